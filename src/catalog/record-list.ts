import type { PackageRecord } from '../contract/records.ts';

const piecesPerRecord = 3;

/** A piece of JSON text, or of its bytes in UTF-8. */
export type RecordPiece = string | Uint8Array;

/**
 * Records as they stand in an answer: pieces of JSON text which, one after another, are the records with commas. An
 * answer is encoded piece by piece, for less than it takes to join them first.
 */
export interface RecordList {
  readonly count: number;
  readonly pieces: readonly RecordPiece[];
}

/**
 * The ready text of a record as an answer takes it, in SQL: a long one as its bytes, because to read it as a text and to
 * encode that again takes ten times as long (H7). For a short one it is the other way round.
 */
export const readyText = 'iif(octet_length(record.json) > 8192, CAST(record.json AS BLOB), record.json)';

/** The list of the records of these rows, each of which is the ready text of a record and which repository it is of. */
export const listRecords = <Repository>(
  rows: ReadonlyArray<readonly [json: RecordPiece, repository: Repository]>,
  embeddedOf: (repository: Repository) => string,
): RecordList => {
  const pieces = new Array<RecordPiece>(rows.length * piecesPerRecord);
  let next = 0;
  for (const [json, repository] of rows) {
    pieces[next++] = json;
    pieces[next++] = embeddedOf(repository);
    pieces[next++] = next === pieces.length ? '}' : '},';
  }
  return { count: rows.length, pieces };
};

/** A whole package record from its ready text and that of its repository. */
export const completeRecord = (json: string, embedded: string): string => `${json}${embedded}}`;

/** What the ready text of a record, which ends with the key of its last field, says of itself. */
export const parseRecord = (json: string): Omit<PackageRecord, 'repository'> => JSON.parse(`${json}null}`);
