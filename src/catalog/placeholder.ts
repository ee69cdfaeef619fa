// What the templates of Theos (theos/templates, the control file of each) and of its predecessors write into
// Description, to be replaced by who makes the package.
const template =
  /^(?:an? (?:awesome|simple) (?:(?:mobilesubstrate |substrate |cydia substrate |orion |swift )?tweak|application|app|game|(?:tool|library|framework) of some sort|framework|library|theme|cydget|widget|preference ?bundle|notification center widget|(?:event|listener) for the libactivator api|switch for the flipswitch api|control ?center module)|(?:a )?description of your (?:package|tweak)|(?:your |the )?description(?: here| goes here)?|todo)[!.]*$/i;

/** A description without what is a template's: null where nobody has described the package. */
export const describedBy = (description: string | null): string | null =>
  description === null || (description.length < 80 && template.test(description.trim())) ? null : description;
