// Descriptions in the templates of Theos (theos/templates, the control file of each) and of its predecessors, which the
// author of a package should replace.
const template =
  /^(?:an? (?:awesome|simple) (?:(?:mobilesubstrate |substrate |cydia substrate |orion |swift )?tweak|application|app|game|(?:tool|library|framework) of some sort|framework|library|theme|cydget|widget|preference ?bundle|notification center widget|(?:event|listener) for the libactivator api|switch for the flipswitch api|control ?center module)|(?:a )?description of your (?:package|tweak)|(?:your |the )?description(?: here| goes here)?|todo)[!.]*$/i;

// Blanks of all kinds, controls, and what is drawn with another character or not at all.
const seen = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** A text of which something can be seen; null where there is nothing, as of a name that is a zero-width space. */
export const visibleText = (text: string | null): string | null => (text !== null && seen.test(text) ? text : null);

/** The description, or null if it is still that of a template. */
export const describedBy = (description: string | null): string | null =>
  visibleText(description) === null ||
  description === null ||
  (description.length < 80 && template.test(description.trim()))
    ? null
    : description;
