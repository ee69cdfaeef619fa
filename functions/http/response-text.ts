/**
 * The text of an answer of another machine, of so many bytes at most. Throws an Error that says so where it has more; and where
 * it breaks off.
 */
export const readResponseText = async (response: Response, most: number): Promise<string> => {
  let text = '';
  let size = 0;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > most) throw new Error(`its answer is longer than ${most} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
};
