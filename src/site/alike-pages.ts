import { type Component, latestHead, type RouteHead, renderPage } from './page-runtime.ts';

/**
 * The pages of one route, which Astro has rendered one by one: each with a request, an answer, and the way from one to
 * the other, which takes as long as the page itself. The first is rendered by Astro and without it; where both are the
 * same to the letter, the others are rendered without it, and else none is. A page that cannot be without Astro is
 * rendered by Astro, which says what is wrong where there is something.
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
    // In bytes, as which both are written, half of a character is another one.
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
