/** What makes a mail program take the text around it for the address of a page or a mailbox. */
const linking = /[.。．｡](?=\p{L})|:(?=[/\\])|[@＠](?=\S)/gu;
/** A character that is invisible and is part of no address. */
const nothing = '\u200c';

/** Changes somebody else's text, such as a name, so that no mail program makes a link of it. It looks the same. */
export const unlinked = (text: string): string => text.replace(linking, `$&${nothing}`);
