import { type CredentialStore, type Operated, remoteStore } from '../../functions/gateway/on-workers.ts';
import { readValue, writeValue } from './tested-object-values.ts';

/** The store in a gateway's object at an address of TestedObjects, with the test's clock. */
export const openTestedObject = (address: string, clock?: () => number): CredentialStore =>
  remoteStore(() => ({
    operate: async (name, parameters) => {
      const body = writeValue({ name, parameters, now: clock?.() });
      const response = await fetch(address, { method: 'POST', body });
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return readValue(text) as Operated;
    },
  }));
