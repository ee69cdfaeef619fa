/** The images of sections, wherever this site is published. */
export const ownImage = /\/icons\/(?:sections|headers)\/[a-z-]+\.png$/;

// The beginning of a web address without user information.
const remote = /^https?:\/\/[^\s/?#@\\]+(?:[/?#]|$)/i;

/** The address of a package's own icon, from its record; undefined if it has the image of its section. */
export const remoteIcon = (address: string): string | undefined =>
  remote.test(address) && !ownImage.test(address) ? address : undefined;
