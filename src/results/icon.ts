/** The images that stand for a section, wherever this site is published. */
export const ownImage = /\/icons\/(?:sections|headers)\/[a-z-]+\.png$/;

// The beginning of an address on the web that names no user.
const remote = /^https?:\/\/[^\s/?#@\\]+(?:[/?#]|$)/i;

/** The address of a package's own icon, as its record has it; undefined where the image of its section stands for it. */
export const remoteIcon = (address: string): string | undefined =>
  remote.test(address) && !ownImage.test(address) ? address : undefined;
