/** Replaces the links to pictures with the pictures, below the button that was pressed. */
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
  // Keyboard users continue from the first picture.
  links[0]?.focus({ preventScroll: true });
  button.remove();
};
