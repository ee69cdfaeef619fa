import { describe, expect, it } from 'vitest';
import {
  type EdgeGateway,
  readEdgeGateway,
  readEdgePublication,
  wranglerSettings,
} from '../../scripts/bundling/cloudflare-settings.ts';

const publicAddress = 'https://index.example.org';
const id = '0123456789abcdef'.repeat(2);

describe('what keeps the sign-ins of a Worker', () => {
  it('T1: is nothing, an object or a database, at an https address of its own', () => {
    expect(readEdgeGateway('off', undefined)).toEqual({ kind: 'off' });
    expect(readEdgeGateway('object', publicAddress)).toEqual({ kind: 'object', publicAddress });
    expect(readEdgeGateway(`hyperdrive:${id}`, `${publicAddress}/`)).toEqual({ kind: 'hyperdrive', id, publicAddress });
    for (const address of [undefined, 'http://index.example.org', `${publicAddress}/below`, `${publicAddress}/?a`]) {
      expect(readEdgeGateway('object', address), address).toMatch(/^A gateway needs --base-url/);
    }
    for (const where of ['on', 'hyperdrive', `hyperdrive:${id}0`, `hyperdrive:${id.toUpperCase()}`]) {
      expect(readEdgeGateway(where, publicAddress), where).toMatch(/^--gateway must be off, object, or hyperdrive:/);
    }
  });
});

describe('the configuration of a Worker', () => {
  const settingsOf = (where: string, gateway: EdgeGateway = { kind: 'off' }, publicKey?: string) => {
    const publication = readEdgePublication(where) ?? expect.fail(where);
    const text = wranglerSettings({ publication, publicKey, name: 'mine', gateway }, '/a/bundle/cloudflare');
    return JSON.parse(text.replace(/^\/\/.*\n/, ''));
  };

  it('E1: names the publication, the key that signs it, and counts downloads where no other does', () => {
    const common = { INTERVAL: '60', RATE_LIMIT: '20', OLDER_ADDRESSES: 'on' };
    const assets = settingsOf('/a/dist');
    expect(assets).toMatchObject({ name: 'mine', vars: { ...common, COUNT_DOWNLOADS: 'on' } });
    expect(assets.assets).toMatchObject({ directory: '../../dist', run_worker_first: true, html_handling: 'none' });
    expect(settingsOf('r2://bucket/v/')).toMatchObject({
      r2_buckets: [{ binding: 'BUCKET', bucket_name: 'bucket' }],
      vars: { ...common, PREFIX: 'v', COUNT_DOWNLOADS: 'on' },
    });
    expect(settingsOf('r2://bucket').vars).toEqual({ ...common, COUNT_DOWNLOADS: 'on' });
    const replica = { ...common, PUBLICATION: 'https://a.example/x', COUNT_DOWNLOADS: 'off' };
    expect(settingsOf('https://a.example/x/').vars).toEqual(replica);
    const vars = { ...replica, PUBLIC_KEY: 'key' };
    expect(settingsOf('https://a.example/x', { kind: 'off' }, 'key').vars).toEqual(vars);
    for (const none of ['https://me@a.example', 'https://a.example/#a', 'r2://b', 'r2://bucket.of.mine']) {
      expect(readEdgePublication(none), none).toBeUndefined();
    }
  });

  it('T12: binds what keeps sign-ins, after what was deployed before, and has a database tidied on a schedule', () => {
    const off = settingsOf('/a/dist');
    expect([off.compatibility_flags, off.hyperdrive, off.triggers]).toEqual([undefined, undefined, undefined]);
    const object = settingsOf('/a/dist', { kind: 'object', publicAddress });
    expect(object).toMatchObject({ compatibility_flags: ['nodejs_compat'], vars: { PUBLIC_ADDRESS: publicAddress } });
    expect(object.migrations.slice(0, -1)).toEqual(off.migrations);
    expect(object.migrations.at(-1)).toEqual({ tag: 'v3', new_sqlite_classes: ['GatewayObject'] });
    const bound = { name: 'CREDENTIALS', class_name: 'GatewayObject' };
    expect(object.durable_objects.bindings).toEqual([...off.durable_objects.bindings, bound]);
    const database = settingsOf('/a/dist', { kind: 'hyperdrive', id, publicAddress });
    expect(database).toMatchObject({
      compatibility_flags: ['nodejs_compat'],
      hyperdrive: [{ binding: 'HYPERDRIVE', id }],
      triggers: { crons: ['*/10 * * * *'] },
      migrations: off.migrations,
      vars: { PUBLIC_ADDRESS: publicAddress },
    });
  });
});
