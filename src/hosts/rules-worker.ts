import { encodeFileName, encodeFolderName } from '../contract/filenames.ts';
import type { WorkerRules } from './worker-text.ts';

// The code for hosts that run scripts. It is published as it is, after the table of its rules and the encoding of names
// (worker-text.ts), so it may import nothing but types.

const endingOf = (file: string): string => file.slice(file.lastIndexOf('.') + 1).toLowerCase();

interface Assets {
  fetch(request: Request): Promise<Response>;
}

/** Answers requests by the rules. Files come from `assets`, which knows them only by their paths. */
export const createWorker = (rules: WorkerRules) => {
  const apiWords = new Set([rules.root, ...rules.rootlessWords]);
  const computed = rules.computed.map(({ pattern, methods }) => ({ pattern: new RegExp(pattern), methods }));
  const cache = rules.cache.map(({ pattern, value }) => ({ pattern: new RegExp(pattern), value }));

  const openFiles = rules.openFiles.map((pattern) => new RegExp(pattern));

  const fail = (request: Request, status: number, error?: string, more: Record<string, string> = {}): Response => {
    const message = `${status} ${rules.phrases[status]}`;
    const date = new Date().toISOString();
    const headers = {
      'Content-Type': 'application/json',
      'Cache-Control': status === 404 ? rules.missingCache : rules.noCache,
      ...rules.open,
      ...more,
    };
    const body = JSON.stringify(error === undefined ? { message, date } : { message, error, date });
    return new Response(request.method === 'HEAD' ? null : body, { status, headers });
  };

  const headersOf = (file: string, from: Headers): Headers => {
    const headers = new Headers(from);
    headers.set('Content-Type', rules.types[endingOf(file)] ?? rules.unknownType);
    headers.set('Cache-Control', cache.find(({ pattern }) => pattern.test(file))?.value ?? rules.noCache);
    const open = openFiles.some((pattern) => pattern.test(file)) ? rules.open : rules.closed;
    for (const [name, value] of Object.entries(open)) headers.set(name, value);
    return headers;
  };

  // Hosts redirect "…/index.html" and "….html" to the address without it.
  const addressOf = (file: string): string => `/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`;

  const read = async (request: Request, assets: Assets, file: string): Promise<Response | undefined> => {
    const path = addressOf(file).split('/').map(encodeURIComponent).join('/');
    const { method, headers } = request;
    const found = await assets.fetch(new Request(new URL(path, request.url), { method, headers }));
    if (found.status !== 200 && found.status !== 304) {
      await found.body?.cancel();
      return undefined;
    }
    return new Response(found.body, { status: found.status, headers: headersOf(file, found.headers) });
  };

  // The file for an address of the API: undefined if there is none, a sentence if the request is wrong.
  const findFile = (segments: readonly string[], url: URL): { file?: string; sentence?: string; paged?: boolean } => {
    const address = `/${segments.join('/')}`;
    const fixed = rules.fixed[address];
    if (fixed !== undefined) return { file: fixed };
    for (const { address: at, parameter, files, sentences } of rules.chosen) {
      if (address !== at) continue;
      const [value, ...others] = url.searchParams.getAll(parameter);
      if (value === undefined) return { sentence: sentences.missing };
      if (others.length > 0) return { sentence: sentences.repeated };
      return Object.hasOwn(files, value) ? { file: files[value] ?? '' } : { sentence: sentences.other };
    }
    for (const {
      address: [before, after],
      file,
      between,
      words,
      paged,
    } of rules.named) {
      const place = before.split('/').length - 2;
      const name = segments[place];
      if (name === undefined || name === '' || words.includes(name)) continue;
      if (`/${segments.slice(0, place).join('/')}/` !== before) continue;
      const last = between === '' ? place : place + between.split('/').length - 1;
      const second = segments[last];
      if (second === undefined || second === '') continue;
      const middle = segments.slice(place + 1, last).join('/');
      if (between !== '' && `/${middle}/` !== between) continue;
      const rest = segments.slice(last + 1).map((one) => `/${one}`);
      if (rest.join('') !== after) continue;
      const isFolder = between !== '' || file[1].startsWith('/');
      const first = isFolder ? encodeFolderName(name) : encodeFileName(name);
      const names = between === '' ? first : `${first}${between}${encodeFileName(second)}`;
      return { file: `${file[0]}${names}${file[1]}`, paged: paged.some((one) => url.searchParams.has(one)) };
    }
    return {};
  };

  const handOn = (request: Request, url: URL, functionUrl: string): Promise<Response> =>
    fetch(new Request(new URL(url.pathname + url.search, functionUrl), request));

  const compute = (request: Request, url: URL, methods: string): Response | Promise<Response> => {
    if (rules.functionUrl !== undefined) return handOn(request, url, rules.functionUrl);
    if (request.method === 'OPTIONS') {
      return new Response(null, { status: 204, headers: rules.preflight[methods] ?? {} });
    }
    return fail(request, 501, rules.sentences.noFunction);
  };

  const isOlder = (path: string): boolean =>
    rules.older.some(
      ({ folder, files }) => (path === folder || path.startsWith(`${folder}/`)) && !files.includes(path.slice(1)),
    );

  const answerApi = async (request: Request, assets: Assets, segments: readonly string[], url: URL) => {
    if (segments.length > 1 && segments.includes('')) return fail(request, 400, rules.sentences.emptySegment);
    const address = `/${segments.join('/')}`;
    const found = computed.find(({ pattern }) => pattern.test(address));
    if (found !== undefined) return compute(request, url, found.methods);
    if (request.method === 'OPTIONS') {
      return new Response(null, { status: 204, headers: rules.preflight[rules.readMethods] ?? {} });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return fail(request, 405, rules.sentences.otherMethod, { Allow: rules.readMethods });
    }
    const named = `${rules.root}${address}`;
    // No published folder has such a name, and ".." leads elsewhere; but a package may be called ".x".
    if (endingOf(named) in rules.types && !/\/\.(?:[^/]*\/|\.?$)/.test(address)) {
      const answer = await read(request, assets, named);
      if (answer !== undefined) return answer;
    }
    const { file, sentence, paged } = findFile(segments, url);
    if (paged && rules.functionUrl !== undefined) return handOn(request, url, rules.functionUrl);
    if (sentence !== undefined) return fail(request, 400, sentence);
    return (file === undefined ? undefined : await read(request, assets, file)) ?? fail(request, 404);
  };

  const accepts = (request: Request, type: string): boolean => (request.headers.get('Accept') ?? '').includes(type);

  const missing = async (request: Request, assets: Assets): Promise<Response> => {
    if (!rules.site || !accepts(request, 'text/html')) return fail(request, 404, undefined, { Vary: 'Accept' });
    const page = await read(new Request(request.url, { method: request.method }), assets, '404.html');
    if (page === undefined) return fail(request, 404, undefined, { Vary: 'Accept' });
    const answer = new Response(page.body, { status: 404, headers: page.headers });
    answer.headers.set('Cache-Control', rules.missingCache);
    answer.headers.set('Vary', 'Accept');
    return answer;
  };

  const answerSite = async (request: Request, assets: Assets, path: string, url: URL): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return fail(request, 405, rules.sentences.otherMethodOfPage, { Allow: rules.pageMethods });
    }
    if (path === '') {
      const json = !rules.site || (accepts(request, 'application/json') && !accepts(request, 'text/html'));
      const front = await read(request, assets, json ? rules.landing : 'index.html');
      front?.headers.append('Vary', 'Accept');
      return front ?? missing(request, assets);
    }
    if (/(^|\/)\.(?!well-known(\/|$))/.test(path)) return missing(request, assets);
    const { search, functionUrl } = rules;
    if (search !== undefined && functionUrl !== undefined && path === search.path) {
      // If the function is unavailable, or a replica, which has no page, the scripts of the page search by themselves.
      const asked = url.searchParams.get(search.parameter);
      const answer = asked ? await handOn(request, url, functionUrl).catch(() => undefined) : undefined;
      if (answer !== undefined && ![307, 502, 504].includes(answer.status)) return answer;
    }
    if (path.endsWith('/')) return (await read(request, assets, `${path}index.html`)) ?? missing(request, assets);
    const file = await read(request, assets, path);
    if (file !== undefined) return file;
    if ((await read(new Request(request.url, { method: 'HEAD' }), assets, `${path}/index.html`)) === undefined) {
      return missing(request, assets);
    }
    const headers = { ...rules.closed, Location: `${url.pathname}/${url.search}`, 'Cache-Control': rules.movedCache };
    return new Response(null, { status: 308, headers });
  };

  return async (request: Request, assets: Assets): Promise<Response> => {
    const url = new URL(request.url);
    const { below } = rules;
    if (url.pathname === below && below !== '') {
      return new Response(null, {
        status: 308,
        headers: { ...rules.closed, Location: `${below}/${url.search}`, 'Cache-Control': rules.movedCache },
      });
    }
    if (!url.pathname.startsWith(`${below}/`)) return missing(request, assets);
    let segments: string[];
    try {
      segments = url.pathname
        .slice(below.length + 1)
        .split('/')
        .map(decodeURIComponent);
    } catch {
      return fail(request, 400, 'The path must be percent-encoded UTF-8');
    }
    if (isOlder(`/${segments.join('/')}`)) return compute(request, url, rules.readMethods);
    if (!apiWords.has(segments[0] ?? '')) {
      // A path that began with two slashes would be read as a host, here and where it is redirected to.
      if (segments.slice(0, -1).includes('')) return fail(request, 400, rules.sentences.emptySegment);
      if (segments.some((segment) => /[/\\]/.test(segment))) return missing(request, assets);
      return answerSite(request, assets, segments.join('/'), url);
    }
    const rest = segments[0] === rules.root ? segments.slice(1) : segments;
    return answerApi(request, assets, rest.length === 0 ? [''] : rest, url);
  };
};
