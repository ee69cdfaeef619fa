import type { Wire } from './client.ts';
import { array, object, optional, string, url } from './decoding.ts';

// Azule, a shell script: jq reads the body, and the status is not looked at.

const answer = object({
  message: string,
  data: optional(array(object({ repository: object({ uri: url }) }))),
});

/** The addresses of the repositories that have a package; none where it is unknown. */
export const findRepositories = async (wire: Wire, id: string): Promise<string[]> => {
  const { message, data } = answer((await wire.get(`/v2/jailbreak/package/${id}`)).body, id);
  if (message === '404 Not Found') return [];
  return (data ?? []).map(({ repository }) => repository.uri);
};
