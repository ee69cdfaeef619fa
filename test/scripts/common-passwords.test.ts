import { dictionary } from '@zxcvbn-ts/language-common';
import { expect, it } from 'vitest';
import { isCommonPassword } from '../../scripts/accounts/common-passwords.ts';

it('T4 the commonest passwords are known, however they are written', async () => {
  const list = dictionary['passwords-common'];
  expect(list.length).toBeGreaterThan(10_000);
  for (const rank of [0, 1, 100, 9_999, list.length - 1]) {
    const password = list[rank] ?? '';
    for (const written of [password, password.toUpperCase(), ` ${password} `]) {
      expect(await isCommonPassword(written), written).toBe(true);
    }
  }
  expect(await isCommonPassword('ＰＡＳＳＷＯＲＤ１')).toBe(true);
});

it('a password that nobody tries first is not', async () => {
  for (const password of ['correct horse battery staple', 'k7#vQ2 m9', 'first password', '']) {
    expect(await isCommonPassword(password), password).toBe(false);
  }
});
