import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/** The address of a new, empty object of the gateway, in the runtime that tests share. */
export const newObject = async (): Promise<string> => {
  const answer = await text(connect(inject('objects'), '127.0.0.1'));
  if (!answer.startsWith('http:')) throw new Error(answer);
  return `${answer}/${randomUUID()}`;
};
