import type { Wire } from './client.ts';
import { array, DecodingError, filled, object, optional, present, string, url } from './decoding.ts';

// Programs that call addresses from before /v2. What each of them requires is what its public source takes without
// leaving an entry out or failing.

const assertOk = (status: number, target: string): void => {
  if (status !== 200) throw new DecodingError(`${target} answers ${status}`);
};
const decode = <T>(read: (value: unknown, place: string) => T, body: unknown, place: string): T => read(body, place);

/** Zebra, main branch: an entry without a name or with an address that is no URL is left out of its list. */
export const zebraRepositories = async (wire: Wire) => {
  const target = '/v1/community/repositories/search?query=';
  const { status, body } = await wire.get(target);
  assertOk(status, target);
  const read = object({
    data: array(object({ name: filled, uri: url, suite: optional(string), dist: optional(string) })),
  });
  return decode(read, body, target).data;
};

// A repository may be nothing but texts there, or the entry is left out.
const texts = (value: unknown, place: string): Readonly<Record<string, string>> => {
  const whole = object({ uri: url })(value, place);
  for (const [name, text] of Object.entries(value as object)) string(text, `${place}.${name}`);
  return whole;
};
const provisional = {
  identifier: filled,
  name: optional(string),
  description: optional(string),
  packageIcon: optional(url),
  author: optional(string),
  maintainer: optional(string),
  latestVersion: filled,
  nativeDepiction: optional(url),
  depiction: optional(url),
};
const sileoFields =
  'searchFields=identifier,name,author,maintainer&responseFields=identifier,name,description,packageIcon,repository.uri,author,latestVersion,nativeDepiction,depiction,maintainer';

/** Sileo before 2.3, per keystroke. */
export const sileoSearch = async (wire: Wire, typed: string) => {
  const target = `/v1/community/packages/search?query=${encodeURIComponent(typed)}&${sileoFields}`;
  const { status, body } = await wire.get(target);
  assertOk(status, target);
  return decode(object({ data: array(object({ ...provisional, repository: texts })) }), body, target).data;
};

/** The same for what its queue names. */
export const sileoLookup = async (wire: Wire, ids: readonly string[]) => {
  const target = `/v1/community/packages/lookup?packages=${ids.join(',')}`;
  const { status, body } = await wire.get(target);
  assertOk(status, target);
  const entry = object({
    package: filled,
    fields: array(object({ ...provisional, repository: object({ uri: url }) })),
  });
  return decode(object({ data: array(entry) }), body, target).data;
};

const successful = (value: unknown, place: string): string => {
  if (value !== 'Successful') throw new DecodingError(`${place} is not "Successful"`);
  return value;
};
const verdict = object({ repositoryURI: url, status: filled });

/** The same before it adds sources: one in an answer of its own, several in one list, none of them encoded. */
export const sileoCheck = async (wire: Wire, uris: readonly string[]) => {
  const [first = ''] = uris;
  const target = `/v1/community/repositories/check?${uris.length === 1 ? `query=${first}` : `queries=${uris.join(',')}`}`;
  const { body } = await wire.get(target);
  const one = () => [decode(object({ status: successful, data: verdict }), body, target).data];
  const several = () => decode(object({ status: successful, data: array(verdict) }), body, target).data;
  return uris.length === 1 ? one() : several();
};

/** Bots of Discord and pages that add a repository: the first of a list, or the one. */
export const botCheck = async (wire: Wire, word: string): Promise<string> => {
  const target = `/v1/community/repositories/check?queries=${word}`;
  const { body } = await wire.get(target);
  const [first] = decode(object({ data: array(object({ status: filled })) }), body, target).data;
  if (first === undefined) throw new DecodingError(`${target}: data[0] is not there`);
  return first.status;
};

/** Bots that show what a search finds; keys that are missing end them. */
export const botSearch = async (wire: Wire, typed: string) => {
  const target = `/v1/community/packages/search?query=${encodeURIComponent(typed)}&searchFields=name,identifier,description&limit=5&responseFields=*,repository.name,repository.uri`;
  const { status, body } = await wire.get(target);
  assertOk(status, target);
  const item = object({
    identifier: filled,
    name: present,
    description: present,
    author: present,
    price: filled,
    section: present,
    depiction: present,
    packageIcon: present,
    tintColor: present,
    header: present,
    maintainer: present,
    nativeDepiction: present,
    latestVersion: filled,
    repository: object({ name: filled, uri: url }),
  });
  const { data } = decode(object({ data: array(item) }), body, target);
  if (data.length > 5) throw new DecodingError(`${target} has more than was asked for`);
  return data;
};

/** Tweakio, through the bot's own list of fields: the blanks alone are encoded, and what is null is shown as nothing. */
export const tweakioSearch = async (wire: Wire, typed: string) => {
  const target = `/v1/community/packages/search?query=${encodeURI(typed).replaceAll(/[&#?+]/g, encodeURIComponent)}`;
  const { status, body } = await wire.get(target);
  assertOk(status, target);
  const item = object({
    identifier: filled,
    name: optional(string),
    latestVersion: filled,
    description: optional(string),
    author: optional(string),
    price: filled,
    section: optional(string),
    architecture: filled,
    packageIcon: optional(url),
    depiction: optional(url),
    repository: object({ uri: url, name: filled }),
  });
  return decode(object({ data: array(item) }), body, target).data;
};

/** Scripts that gather all addresses of repositories. */
export const gatherRepositories = async (wire: Wire) => {
  const target = '/v1/community/repositories/search?ranking=1,2,3,4,5&responseFields=uri';
  const { body } = await wire.get(target);
  return decode(object({ data: array(object({ uri: url })) }), body, target).data;
};
