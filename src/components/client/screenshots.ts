/** Puts the pictures in the place of the links to them, below the button that was pressed for it. */
export const showScreenshots = (button: HTMLButtonElement): void => {
  const list = button.parentElement?.querySelector('ol');
  const links = list?.querySelectorAll('a') ?? [];
  for (const link of links) {
    const picture = new Image();
    picture.alt = link.textContent?.trim() ?? '';
    picture.loading = 'lazy';
    picture.referrerPolicy = 'no-referrer';
    picture.src = link.href;
    link.replaceChildren(picture);
  }
  list?.classList.add('shown');
  // Who came here by keyboard goes on from the first of them.
  links[0]?.focus({ preventScroll: true });
  button.remove();
};
