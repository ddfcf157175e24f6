/** The five-minute tour of README.md, for the page /tour. A test compares the two. */

export interface TourStep {
  readonly title: string;
  readonly text: string;
  /** Lines for bash or zsh. */
  readonly shell: string;
}

/**
 * @param base address of this installation, without a trailing slash
 * @param commandLine the command that starts the command line on this machine
 */
export function tourSteps(base: string, commandLine: string): TourStep[] {
  return [
    {
      title: 'Say where, and with which key',
      text: `The first start made a project "demo". Its id and its keys are shown by: ${commandLine} project keys demo`,
      shell: `BASE=${base}
ID=...                      # project_id
KEY=...                     # anon_key`,
    },
    {
      title: 'Sign up',
      text: 'The anon key identifies the project; the answer carries a session. The second time, /login in place of /signup signs in.',
      shell: `curl -s $BASE/v1/auth/$ID/signup -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"email":"ada@example.com","password":"correct horse","name":"Ada"}'

TOKEN=...                   # the access_token of the answer
H=(-H "apikey: $KEY" -H "Authorization: Bearer $TOKEN")`,
    },
    {
      title: 'Write and read rows',
      text: 'The policy of the table "todos" lets each user see their own rows. The anon key sees none.',
      shell: `curl -s $BASE/rest/v1/todos "\${H[@]}" -H 'Content-Type: application/json' -d '{"title":"Try Plinth"}'
curl -s "$BASE/rest/v1/todos?done=is.false&select=id,title&order=id.desc&limit=10" "\${H[@]}"
curl -s "$BASE/rest/v1/todos?title=eq.Try%20Plinth" "\${H[@]}" -X PATCH -H 'Content-Type: application/json' -d '{"done":true}'

curl -s $BASE/rest/v1/todos -H "apikey: $KEY" -H "Authorization: Bearer $KEY"     # []`,
    },
    {
      title: 'Upload and share a file',
      text: 'The bucket "files" belongs to the project; every signed-in user may upload into it. The address in the last answer needs no header for an hour.',
      shell: `echo 'Hello from Plinth' > hello.txt
curl -s $BASE/p/demo/storage/buckets/files/upload "\${H[@]}" -F file=@hello.txt

FILE=...                    # data.id of the answer
curl -s $BASE/p/demo/storage/files/$FILE/signed-url "\${H[@]}" -H 'Content-Type: application/json' -d '{"expiry":"1h"}'`,
    },
  ];
}
