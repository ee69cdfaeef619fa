/**
 * The text of another machine's response, of at most this many bytes. Throws an Error if it has more or is cut short.
 */
export const readResponseText = async (response: Response, most: number): Promise<string> => {
  let text = '';
  let size = 0;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > most) {
      throw Object.assign(new Error(`its answer is longer than ${most} bytes`), { code: 'answer_too_long' });
    }
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
};
