import { expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../functions/gateway/on-node.ts';
import { gatewayWords } from '../../src/contract/gateway-schemas.ts';
import { operations } from '../../src/contract/paths.ts';
import { temporaryFolder } from '../support/folder.ts';
import { readTestConfiguration } from '../support/gateway-session.ts';

const wordOf = (path: string): string => path.split('/')[1] ?? '';

it('every address of the gateway begins with one of its words, and every word is of an address', () => {
  const gateway = openGateway(readTestConfiguration({ STATE_DIR: temporaryFolder() }), { tell: () => {} });
  onTestFinished(() => gateway.close());
  const words = new Set(gateway.routes.routes.map(({ path }) => wordOf(path)));
  expect([...words].sort()).toEqual([...gatewayWords].sort());
});

it('no word of the gateway is one of the read API', () => {
  const readWords = Object.values(operations).map(({ address }) => wordOf(address));
  expect(gatewayWords.filter((word) => readWords.includes(word))).toEqual([]);
});
