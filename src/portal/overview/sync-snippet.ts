import type { SnippetValues } from './snippets.ts';

/** A Python program that finds out which of a partner's requests were paid, by reading the list page by page. */
export function syncSnippet({ baseUrl, key }: Pick<SnippetValues, 'baseUrl' | 'key'>): string {
  return `import json
import urllib.parse
import urllib.request


def read_requests(**query):
    limit, offset = 100, 0
    while True:
        asked = urllib.parse.urlencode({**query, "limit": limit, "offset": offset})
        call = urllib.request.Request(
            "${baseUrl}/api/v1/requests?" + asked,
            headers={"Authorization": "Bearer ${key}"},
        )
        with urllib.request.urlopen(call, timeout=30) as response:
            page = json.load(response)
        yield from page["requests"]
        if not page["has_more"]:
            return
        offset += limit


# Keep these in your database: the requests that are not paid yet, each with its created_at.
waiting = {"<request_id>": "2026-01-31T09:00:00.000Z"}
if waiting:
    for request in read_requests(proof_status="verified", since=min(waiting.values())):
        if waiting.pop(request["request_id"], None):
            print("paid:", request["request_id"])`;
}
