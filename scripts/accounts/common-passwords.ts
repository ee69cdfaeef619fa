/**
 * Whether a password is one of those that attackers try first (NIST SP 800-63B, section 5.1.1.2), without regard to
 * letter case. The list contains the 49,000 commonest passwords of published breaches. It is loaded only here.
 */
export const isCommonPassword = async (password: string): Promise<boolean> => {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const common = new Set(dictionary['passwords-common']);
  return common.has(password.normalize('NFKC').trim().toLowerCase());
};
