import type { PackageRecord } from '../contract/records.ts';

const piecesPerRecord = 3;

/** A piece of JSON text, or its bytes in UTF-8. */
export type RecordPiece = string | Uint8Array;

/**
 * Records as an answer contains them: pieces of JSON text that, one after another, are the records separated by commas.
 * Encoding an answer piece by piece costs less than joining the pieces first.
 */
export interface RecordList {
  readonly count: number;
  readonly pieces: readonly RecordPiece[];
}

/**
 * The ready text of a record in SQL, in the form that an answer needs. A long one comes as bytes, because reading it as
 * text and encoding that again takes ten times as long (H7); for a short one text is faster.
 */
export const readyText = 'iif(octet_length(record.json) > 8192, CAST(record.json AS BLOB), record.json)';

/** The list of the records of these rows: each row is the ready text of a record, and its repository. */
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

/** Parses the ready text of a record, which ends with the key of its last field. */
export const parseRecord = (json: string): Omit<PackageRecord, 'repository'> => JSON.parse(`${json}null}`);

/** The fields of a record that say what it is called, who made it and what it does. */
export type RecordTexts = Pick<PackageRecord, 'package_id' | 'name' | 'description' | 'maintainer' | 'author'>;

// The field after the last of these (computeRecordJson). Inside a JSON string its quotation marks would be escaped, so
// this can only be the field itself.
const afterTexts = ',"price":';

/**
 * Parses only these fields of the ready text of a record, among others: a search examines a hundred records, and parsing
 * all of each takes three times as long.
 */
export const parseTexts = (json: string): RecordTexts => JSON.parse(`${json.slice(0, json.indexOf(afterTexts))}}`);
