/** What makes a mail program take the text around it for the address of a page or a mailbox. */
const linking = /[.。．｡](?=\p{L})|:(?=[/\\])|[@＠](?=\S)/gu;
/** Shows nothing, and stands in no address. */
const nothing = '\u200c';

/** Somebody else's text, such as a name, of which no mail program makes a link. It looks the same. */
export const unlinked = (text: string): string => text.replace(linking, `$&${nothing}`);
