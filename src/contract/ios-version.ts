/** The form of the iOS version of a device, in parameters of the API and in what a visitor states of an iPhone. */
export const iosVersionPattern = /^\d{1,2}(?:\.\d{1,2}){0,2}$/;
