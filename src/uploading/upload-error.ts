/** Why something cannot be uploaded, as a sentence that says what to do. */
export class UploadError extends Error {
  override name = 'UploadError';
}

/** Another upload to the same destination is in progress. */
export class DestinationBusy extends UploadError {
  override name = 'DestinationBusy';
}

/** The file that was to be replaced has changed meanwhile. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** The address that was given is no destination. */
export class NoDestination extends UploadError {
  override name = 'NoDestination';
}

/** A file of which a destination says that it was taken, and which is not there. `title` names the destination. */
export const notKept = (title: string, name: string): UploadError =>
  new UploadError(
    `${title} answers that it has taken ${name}, and has no such file: see what is in front of it, whether this network wants somebody to sign in, and whether it keeps what it is sent.`,
  );

/** A file that is as it was, and may not be replaced under the tag that it has: the tag is not that of the store. */
export const otherTags = (title: string, name: string): UploadError =>
  new UploadError(
    `${title} does not let ${name} be replaced, though nobody else has written it: something in front of it removes or alters the header ETag, or If-Match. Let it pass both unchanged, or upload past it.`,
  );
