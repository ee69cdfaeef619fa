/**
 * Whether a password is one of those that are tried first (NIST SP 800-63B, section 5.1.1.2), without regard to letter
 * case. The list has the 49,000 commonest ones of published breaches; it is loaded here, where it is needed, alone.
 */
export const isCommonPassword = async (password: string): Promise<boolean> => {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const common = new Set(dictionary['passwords-common']);
  return common.has(password.normalize('NFKC').trim().toLowerCase());
};
