import type { Wire } from './client.ts';
import { array, DecodingError, filled, object, present, string, url } from './decoding.ts';

// The Discord bots of the community (GIR and its relatives): Python, which fails at a key that is missing.

const packages = object({
  data: array(
    object({
      id: filled,
      package: present,
      version: present,
      description: present,
      author: present,
      price: present,
      repository: object({ slug: filled, name: present, uri: url }),
    }),
  ),
});
const repositories = object({ data: array(object({ id: filled, slug: filled, name: present, uri: url })) });

const assertUnique = (ids: readonly string[]) => {
  if (new Set(ids).size !== ids.length) throw new DecodingError('an id comes twice');
};

export const searchPackages = async (wire: Wire, typed: string) => {
  const { body } = await wire.get(`/v2/jailbreak/package/search?q=${encodeURIComponent(typed).replaceAll('%20', '+')}`);
  const { data } = packages(body, 'search');
  assertUnique(data.map(({ id }) => id));
  return data;
};

export const searchRepositories = async (wire: Wire, typed: string) => {
  const { body } = await wire.get(`/v2/jailbreak/repository/search?q=${encodeURIComponent(typed)}`);
  return repositories(body, 'repository search').data;
};

/** Their cache of all repositories. */
export const listRepositories = async (wire: Wire) => {
  const { data } = repositories((await wire.get('/v2/jailbreak/repository/ranking?rank=*')).body, 'ranking');
  assertUnique(data.map(({ slug }) => slug));
  return data.map(({ slug, uri }) => ({ slug: string(slug, 'slug'), uri }));
};
