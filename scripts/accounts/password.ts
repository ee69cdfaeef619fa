import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { isCommonPassword } from './common-passwords.ts';

/** A password that is not allowed. The message says why. */
export class PasswordRefused extends Error {}

// NIST SP 800-63B, section 5.1.1.2: a minimum length, and no rules about kinds of characters.
const minimum = 8;
const maximum = 1024;

/** What a form may take up, of the 8 KiB that the sign-in page reads, with all that stands beside the password. */
const formMaximum = 7 * 1024;

// A form field takes no control character. A byte order mark, or what stands for bytes that are no UTF-8, comes from a
// file, and nobody can type it.
const untypable = /[\p{Control}\ufeff\ufffd]/u;

/**
 * Reads a new password: typed twice at a terminal, without showing it, or else the first line of standard input. Throws
 * PasswordRefused if it is too short, too long, one of the commonest or impossible to enter on the sign-in page, or if
 * the two differ.
 */
export const readNewPassword = async (): Promise<string> => {
  const [password, again] = process.stdin.isTTY
    ? [await ask('Password: '), await ask('Again: ')]
    : [await readFirstLine()];
  if (again !== undefined && again !== password) throw new PasswordRefused('The two passwords differ.');
  const length = [...password].length;
  if (length < minimum) throw new PasswordRefused(`A password has at least ${minimum} characters.`);
  // The sign-in page counts as browsers do, and a form writes a letter that is not Latin in six characters or more.
  if (password.length > maximum || `${new URLSearchParams({ password })}`.length > formMaximum) {
    throw new PasswordRefused(`A password has at most ${maximum} characters, and fewer if many are not Latin letters.`);
  }
  if (untypable.test(password)) {
    throw new PasswordRefused('A password has no character that cannot be typed; a file that has one is in UTF-8.');
  }
  if (await isCommonPassword(password)) {
    throw new PasswordRefused('This password is one of those that are tried first. Please choose another.');
  }
  return password;
};

const readFirstLine = async () => {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
};

const ask = (prompt: string): Promise<string> => {
  process.stderr.write(prompt);
  // Readline echoes what is typed, so its output is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  return new Promise((resolve, reject) => {
    terminal.question('', (answer) => {
      resolve(answer);
      terminal.close();
      process.stderr.write('\n');
    });
    // After Ctrl-C, Ctrl-D or the end of the terminal. After an answer this has no effect.
    terminal.once('close', () => reject(new PasswordRefused('\nNothing was changed.')));
  });
};
