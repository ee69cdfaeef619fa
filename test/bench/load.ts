import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { percentile } from './statistics.ts';
import type { Workshop } from './workshop.ts';

/** The performance of a server under load. */
export interface LoadResult {
  readonly perSecond: number;
  /** In milliseconds, measured by the client. */
  readonly p50: number;
  readonly p99: number;
  /** Answers with a status other than 2xx, and failed connections. */
  readonly errors: number;
}

const hasWrk = (): boolean => spawnSync('wrk', ['-v']).error === undefined;

/** The program that generates the load. */
export const loadTool = (): string => (hasWrk() ? 'wrk' : 'autocannon');

const wrkScript = (paths: readonly string[], headers: Readonly<Record<string, string>>): string => `
local headers = { ${Object.entries(headers)
  .map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
  .join(', ')} }
local paths = { ${paths.map((each) => JSON.stringify(each)).join(', ')} }
local at = 0
request = function()
  at = at % #paths + 1
  return wrk.format("GET", paths[at], headers)
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`;

const runWrk = async (script: string, address: string, connections: number, duration: number): Promise<LoadResult> => {
  const flags = ['-t1', `-c${connections}`, `-d${duration}s`, '-s', script, address];
  const child = spawn('wrk', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const result = /^RESULT (.*)$/m.exec(output)?.[1];
  if (result === undefined) throw new Error(`wrk said nothing of its result:\n${output}`);
  const { requests, microseconds, p50, p99, errors } = JSON.parse(result) as Record<string, number> & {
    requests: number;
    microseconds: number;
    p50: number;
    p99: number;
    errors: number;
  };
  return { perSecond: requests / (microseconds / 1e6), p50: p50 / 1000, p99: p99 / 1000, errors };
};

/**
 * Requests these paths from a server in turn, for this many seconds, over this many connections, with these headers.
 */
export const runLoad = async (
  workshop: Workshop,
  address: string,
  paths: readonly string[],
  {
    connections,
    duration,
    headers = {},
  }: { connections: number; duration: number; headers?: Readonly<Record<string, string>> },
): Promise<LoadResult> => {
  if (hasWrk()) {
    const script = workshop.path(`load-${new URL(address).port}.lua`);
    writeFileSync(script, wrkScript(paths, headers));
    return runWrk(script, address, connections, duration);
  }
  // Its own figures are whole milliseconds, but a search takes a fraction of one.
  const times: number[] = [];
  // It prepares the requests of all connections before it begins, and counts that time. So each connection gets its own
  // share of it.
  let begun = 0;
  const shareOf = (nth: number) => paths.filter((_, index) => index % Math.min(connections, paths.length) === nth);
  const result = await autocannon({
    url: address,
    connections,
    duration,
    setupClient: (client) => {
      const share = shareOf(begun++ % Math.min(connections, paths.length));
      client.on('response', (_status, _bytes, time) => times.push(time));
      client.setRequests(share.map((each) => ({ method: 'GET', path: each, headers })));
    },
  });
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return { perSecond: result.requests.average, p50, p99, errors: result.errors + result.non2xx + result.timeouts };
};
