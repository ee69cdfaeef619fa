import type { z } from 'zod';
import { gatewayOperations } from '../../src/contract/gateway-schemas.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';
import type { Sent } from '../support/wire.ts';
import { headerNames } from './tokens.ts';

// Requests as large as the limits let through, made of nothing but repetitions of what means something to a parser: one
// that looks at its input again and again is found by them, whatever it parses.

/** What a request is made of and where, so that a person can make it again. */
export interface CostlyRequest {
  readonly name: string;
  readonly sent: Sent;
}

/** The most bytes that the server takes in each part of a request. */
export interface Sizes {
  readonly target: number;
  readonly header: number;
  readonly body: number;
}

/** A part of a request of an operation that takes a text. */
interface Place {
  readonly name: string;
  readonly size: number;
  /** How the text has to be written there. */
  readonly write: (text: string) => string;
  /** Bodies go out in UTF-8, all else byte for character. */
  readonly encoding?: 'utf8';
  readonly fill: (text: string) => Sent;
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const escaped = (text: string): string =>
  text.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
const isControl = (character: string): boolean => character < ' ' || character === '\x7f';
const rawTarget = (text: string): string =>
  latin1(text).replace(/[\s\S]/g, (character) =>
    isControl(character) || character === ' ' ? encodeURIComponent(character) : character,
  );
const headerText = (text: string): string =>
  latin1(text).replace(/[\s\S]/g, (character) => (isControl(character) && character !== '\t' ? '' : character));

const usualValues: Readonly<Record<string, string>> = { q: 'snow', rank: '*', ids: 'odd.bare', uris: 'a' };

/** What texts begin with that get further into a parser than without. */
const beginnings: Readonly<Record<string, readonly string[]>> = {
  uris: [
    '',
    'https://',
    'https://a/',
    'https://a@',
    'https://repo.hackyouriphone.org/',
    'sileo://source/',
    'x://',
    'cydia://url/https://',
  ],
};
/** Lists that are worth filling with as many items as they take. */
const items: Readonly<Record<string, number>> = { uris: 250, ids: 2000 };

const json = (value: unknown): { headers: Record<string, string>; body: string } => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

const addressed = (operation: Operation, id = 'odd.bare') =>
  `/v2${operation.address.replace('{packageId}', id).replace('{repositorySlug}', 'odd').replace('{pageNumber}', '1')}`;

const queryPlaces = (operation: Operation, { target }: Sizes): Place[] => {
  const names: readonly string[] = operation.query ?? [];
  const { method } = operation;
  const usual = names.filter((name) => name in usualValues);
  const withParameter =
    (name: string, fill: (text: string) => string): Place['fill'] =>
    (text) => {
      const others = usual.filter((other) => other !== name).map((other) => `${other}=${usualValues[other]}`);
      return { method, target: `${addressed(operation)}?${[...others, `${name}=${fill(text)}`].join('&')}` };
    };
  return [escaped, rawTarget].flatMap((write) => {
    const place = (name: string, fill: Place['fill']): Place => ({ name, size: target - 200, write, fill });
    return [
      place('query', (text) => ({ method, target: `${addressed(operation)}?${text}` })),
      ...names.flatMap((name) => [
        ...(beginnings[name] ?? ['']).map((start) =>
          place(
            `parameter ${name}${start === '' ? '' : ` after ${start}`}`,
            withParameter(name, (text) => start + text),
          ),
        ),
        // As many letters as are looked at in a question.
        ...(name === 'q'
          ? [
              place(
                'parameter q, 256 characters',
                withParameter(name, (text) => text.slice(0, 256)),
              ),
            ]
          : []),
        ...(name in items
          ? (beginnings[name] ?? ['']).map((start) =>
              place(
                `parameter ${name}, ${items[name]} items${start === '' ? '' : ` after ${start}`}`,
                withParameter(name, (text) => {
                  const many = items[name] ?? 1;
                  const length = Math.max(1, Math.floor(text.length / many) - start.length - 1);
                  return Array.from({ length: many }, () => start + text.slice(0, length)).join(',');
                }),
              ),
            )
          : []),
      ]),
    ];
  });
};

const pathPlaces = (operation: Operation, { target }: Sizes): Place[] => {
  const { method } = operation;
  const size = target - 200;
  const fill = (start: string) => (text: string) => ({ method, target: start + text });
  return [escaped, rawTarget].flatMap((write) => [
    { name: 'path', size, write, fill: fill(`${addressed(operation, '')}/`) },
    { name: 'path of a name', size: 240, write, fill: fill(addressed(operation, '').replace(/\/?$/, '/')) },
  ]);
};

const headerPlaces = (operation: Operation, { header }: Sizes): Place[] => {
  const query = (operation.query ?? [])
    .filter((name) => name in usualValues)
    .map((name) => `${name}=${usualValues[name]}`);
  const target = `${addressed(operation)}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const body = operation.body === undefined ? undefined : json([]);
  // What is repeated and fits nothing that may follow is read again and again by a pattern that tries all ways.
  const ends = { '': '', ', and a byte outside ASCII': '\xff', ' between letters': 'a' };
  return headerNames.flatMap((name) =>
    Object.entries(ends).map(([words, end]) => ({
      name: `header ${name}${words}`,
      size: header - 402,
      write: headerText,
      fill: (text: string) => ({
        method: operation.method,
        target,
        ...body,
        headers: { ...body?.headers, [name]: `${end === 'a' ? end : ''}${text}${end}` },
      }),
    })),
  );
};

// The names of the fields of a body that is an object, or a list of them.
const fieldsOf = (schema: z.ZodType): { names: string[]; isList: boolean } => {
  const { def } = schema as unknown as { def: { type: string; element?: z.ZodType } };
  const object = def.type === 'array' ? def.element : schema;
  return { names: Object.keys((object as z.ZodObject).shape ?? {}), isList: def.type === 'array' };
};

// As many of an item as a list and a body may hold.
const asMany = (item: object, size: number): object[] => {
  const most = Math.floor((size - 2) / (Buffer.byteLength(JSON.stringify(item)) + 1));
  return Array.from({ length: Math.min(256, most) }, () => item);
};

const bodyPlaces = (operation: Operation, sizes: Sizes): Place[] => {
  const { body, method } = operation;
  if (body === undefined) return [];
  const target = addressed(operation);
  const { names, isList } = fieldsOf(body);
  const usual = Object.fromEntries(names.map((name) => [name, 'a']));
  const wrap = (value: object) => (isList ? [value] : value);
  const plain = (text: string) => text.toWellFormed();
  const encoding = 'utf8' as const;
  const whole = (start: string, end = ''): Place => ({
    name: start === '' ? 'body' : `body after ${start}`,
    size: sizes.body - 200,
    write: plain,
    encoding,
    fill: (text) => ({ method, target, headers: { 'content-type': 'application/json' }, body: start + text + end }),
  });
  return [
    whole(''),
    whole('['),
    whole('["', '"]'),
    whole('{"a":"', '"}'),
    ...names.map((name) => ({
      name: `field ${name}`,
      // A character may be written as an escape of six.
      size: (sizes.body - 200) / 6,
      write: plain,
      encoding,
      fill: (text: string) => ({ method, target, ...json(wrap({ ...usual, [name]: text })) }),
    })),
    ...names.map((name) => ({
      name: `field ${name}, 250 characters`,
      size: 250,
      write: plain,
      encoding,
      fill: (text: string) => ({
        method,
        target,
        ...json(isList ? asMany({ ...usual, [name]: text }, sizes.body) : { ...usual, [name]: text }),
      }),
    })),
  ];
};

/** The pages of the gateway, which are no operations of the description: their queries and forms. */
const pagePlaces = (sizes: Sizes): [string, Place[]][] => {
  const get = (address: string): [string, Place[]] => {
    const operation: Operation = { method: 'GET', address, tag: 'service', summary: '', errors: [] };
    return [`GET /v2${address}`, [...queryPlaces(operation, sizes), ...headerPlaces(operation, sizes)]];
  };
  const post = (address: string, fields: readonly string[]): [string, Place[]] => [
    `POST /v2${address}`,
    fields.map((field) => ({
      name: field === '' ? 'form' : `form field ${field}`,
      size: sizes.body - 200,
      write: (text) => text.toWellFormed(),
      encoding: 'utf8',
      fill: (text) => ({
        method: 'POST',
        target: `/v2${address}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: field === '' ? text : `request=a&name=a&password=a&${field}=${text}`,
      }),
    })),
  ];
  return [
    get('/login?request=a'.split('?', 1)[0] ?? ''),
    get('/login/callback'),
    get('/devices'),
    post('/login', ['', 'request', 'name', 'password']),
    post('/devices/sign-out', ['']),
    post('/devices/leave', ['']),
  ];
};

/** A page of the site, which any address outside the API is. */
const sitePlaces = (sizes: Sizes): [string, Place[]] => {
  const places = [escaped, rawTarget].map((write) => ({
    name: 'path',
    size: sizes.target - 200,
    write,
    fill: (text: string) => ({ method: 'GET', target: `/${text}` }),
  }));
  const headers = headerNames.map((name) => ({
    name: `header ${name}`,
    size: sizes.header - 400,
    write: headerText,
    // Only there is asked whether a page is wanted.
    fill: (text: string) => ({ method: 'GET', target: '/', headers: { [name]: text } }),
  }));
  return ['GET /', [...places, ...headers]];
};

/** Every place of every operation, of the gateway's pages and of the site, by what it is a place of. */
export const costlyPlaces = (sizes: Sizes, gatewayBody: number): [string, Place[]][] => {
  const placesOf = (operation: Operation, of: Sizes): [string, Place[]] => [
    `${operation.method} /v2${operation.address}`,
    [
      ...queryPlaces(operation, of),
      ...pathPlaces(operation, of),
      ...headerPlaces(operation, of),
      ...bodyPlaces(operation, of),
    ],
  ];
  const ofGateway = { ...sizes, body: gatewayBody };
  return [
    ...Object.values(operations).map((operation) => placesOf(operation, sizes)),
    ...Object.values(gatewayOperations).map((operation) => placesOf(operation, ofGateway)),
    ...pagePlaces(ofGateway),
    sitePlaces(sizes),
  ];
};

/** The request that has this place filled with repetitions of a text. */
export const fillPlace = (subject: string, place: Place, text: string): CostlyRequest => {
  const written = place.write(text);
  const count =
    written === '' ? 0 : Math.max(1, Math.floor(place.size / Buffer.byteLength(written, place.encoding ?? 'latin1')));
  return {
    name: `${subject}, ${place.name}: ${count} × ${JSON.stringify(written)}`,
    sent: place.fill(written.repeat(count)),
  };
};
