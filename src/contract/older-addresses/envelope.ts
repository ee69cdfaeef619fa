import { type ErrorStatus, phrases } from '../errors.ts';
import { apiRoot } from '../paths.ts';
import { type OlderOperation, olderRoot } from './operations.ts';
import type { OlderNotice } from './records.ts';

/** The notice in an answer; `base` is the public address. For an unknown address it names all replacements. */
export const composeNotice = (base: string, operation?: Pick<OlderOperation, 'instead'>): OlderNotice => ({
  api: `This address is from before /${apiRoot} and is answered for programs that were written then.`,
  data: `${base}/${apiRoot}${operation?.instead ?? '/'} answers the same and more; it is described at ${base}/${apiRoot}/openapi.json.`,
  migration: `It stays for as long as programs call it, as described at ${base}/${olderRoot}/openapi.json; nothing will be added.`,
});

/** The beginning of the JSON of every answer. */
export const olderOpening = (notice: OlderNotice, date: Date, more: Readonly<Record<string, string>>): string =>
  JSON.stringify({ notice, message: '200 OK', date: date.toISOString(), ...more }).slice(0, -1);

/** The body of an error answer. */
export const olderErrorBody = (status: ErrorStatus, sentence: string, notice: OlderNotice, now: Date) => ({
  notice,
  message: `${status} ${phrases[status]}`,
  date: now.toISOString(),
  error: sentence,
});
