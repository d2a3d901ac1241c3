/** Where the API's reference page lives. */
export const docsPath = '/docs';
