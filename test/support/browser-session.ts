/** A browser without scripts: it keeps cookies, opens pages and sends their forms, but follows no redirects. */
export class BrowserSession {
  readonly #cookies = new Map<string, string>();
  readonly #origin: string | undefined;

  /** `origin` is where to connect if the addresses of the site name another host. */
  constructor(origin?: string) {
    this.#origin = origin;
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  async open(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#read(
      address,
      await fetch(this.#reach(address), { headers: this.#headers(headers), redirect: 'manual' }),
    );
  }

  /** Sends the first form of a page, or the one that contains `within`, with these fields filled in. */
  async submit(
    page: Page,
    fields: Readonly<Record<string, string>>,
    { headers = {}, within = '' }: { headers?: Readonly<Record<string, string>>; within?: string } = {},
  ): Promise<Page> {
    const forms = [...page.text.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g)];
    const form = forms.find(([whole]) => whole.includes(within));
    if (!form) throw new Error(`no form on ${page.address}, which answered ${page.status}`);
    const body = new URLSearchParams();
    for (const [input] of form[2]?.matchAll(/<input[^>]*>/g) ?? []) {
      body.set(attribute(input, 'name'), attribute(input, 'value'));
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const address = new URL(decodeEntities(form[1] ?? ''), page.address).href;
    const request = { method: 'POST', body, headers: this.#headers(headers), redirect: 'manual' } as const;
    return this.#read(address, await fetch(this.#reach(address), request));
  }

  #reach(address: string) {
    const url = new URL(address);
    return this.#origin ? `${this.#origin}${url.pathname}${url.search}` : address;
  }

  #headers(headers: Readonly<Record<string, string>>) {
    return { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '), ...headers };
  }

  async #read(address: string, response: Response): Promise<Page> {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const { status, headers } = response;
    return { address, status, headers, text: await response.text(), location: headers.get('location') ?? undefined };
  }
}

export interface Page {
  readonly address: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string | undefined;
}

const attribute = (tag: string, name: string) => decodeEntities(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
const decodeEntities = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
  );
