import { DestinationBusy, NoDestination, UploadError } from '../src/uploading/upload-error.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailure, UsageError } from './options.ts';

/** The error that ended an upload, with an exit code if it is a known one; any other is returned unchanged. */
export const toCommandFailure = (error: unknown): unknown => {
  if (error instanceof NoDestination) return new UsageError(error.message, { cause: error });
  if (error instanceof DestinationBusy) return new CommandFailure(error.message, exitCodes.busy, { cause: error });
  if (error instanceof UploadError) return new CommandFailure(error.message, exitCodes.nothingUsable, { cause: error });
  return error;
};
