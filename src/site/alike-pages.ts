import { type Component, latestHead, type RouteHead, renderPage } from './page-runtime.ts';

/**
 * The pages of one route. Astro renders each with a request, a response, and the code between them, which take as long
 * as the page itself. So the first page is rendered both by Astro and without it. If the results are identical, the
 * other pages are rendered without Astro; otherwise none is. A page that cannot be rendered without Astro is rendered
 * by Astro, which reports what is wrong, if anything.
 */
export class AlikePages {
  readonly #page: Component;
  #head: RouteHead | undefined;
  #areAlike = true;

  constructor(page: Component) {
    this.#page = page;
  }

  async render(props: Record<string, unknown>, byAstro: () => Promise<string>): Promise<string> {
    if (!this.#areAlike) return byAstro();
    if (this.#head !== undefined) return this.#renderAlone(this.#head, props) ?? byAstro();
    const text = await byAstro();
    const head = latestHead();
    const own = head && this.#renderAlone(head, props);
    // Both are compared as they will be written: in UTF-8, half of a surrogate pair becomes another character.
    if (own?.toWellFormed() === text) this.#head = head;
    else this.#areAlike = false;
    return text;
  }

  #renderAlone(head: RouteHead, props: Record<string, unknown>): string | undefined {
    try {
      return renderPage(head, this.#page, props);
    } catch {
      return undefined;
    }
  }
}
