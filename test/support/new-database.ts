import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/** The address of a new, empty database on the PostgreSQL server that tests share. */
export const newDatabase = async (): Promise<string> => {
  const answer = await text(connect(inject('databases'), '127.0.0.1'));
  if (!answer.startsWith('postgres:')) throw new Error(answer);
  return answer;
};
