// Package webfuzz attacks the example applications and the operator's page over HTTP, as somebody does who
// wants what is not his:
//
//	go run -C proof ./soak web -seconds 60 -seed 7
//
// It builds the programs and starts them as processes, on a private server:
//
//	projects    users with their projects, files and comments; the interface and the pages
//	helpdesk    tenants with tickets, messages and attachments
//	orders      two customers with orders and carts, and their bank
//	tutorial    organisers with shows and tickets; left out where its port, 8082, is taken
//	worker      cascade-worker with a token
//	local       cascade-worker without one, which knows this machine only
//
// Some clients have rows and do what users do, with texts that are markup, SQL, broken UTF-8 or very long;
// they repeat keys, send one request several times at once, and upload under names that lead elsewhere. They
// also use each route with the rows of others, with what is no id, with bodies, forms and keys that are none,
// and as another site's page. Other clients have forged, old and no cookies, send bytes that two readers
// would cut in different ways, or a byte now and then. In the last fifth of the time sessions of the database
// are killed.
//
// # What is judged
//
//   - No answer is 500 or above; while sessions are killed 503 is right, and 500 where the log says that
//     KILL QUERY has ended the statement. Every request has an answer.
//   - No text is shown as markup, each page has a policy, each redirect stays, and nobody learns of
//     statements or stacks. Each client has a word of its own in all its texts: nobody gets another's.
//   - What must be refused is refused; what it would have written is in no table.
//   - Tables, and the files of attachments, are what the answers said, as one model of each client says.
//   - No log has a panic, no program ends, none takes more than 400 MiB or keeps descriptors, and SIGQUIT
//     shows no connection that is still served.
//   - A client that is slow with its header or body is cut off in the time that the program has set, if the
//     run is longer than that.
//
// Each finding has the curl line that shows it, where one request does.
//
// # What it cannot show
//
//   - What a browser makes of an answer: markup is looked for as bytes.
//   - Whether an answer was in time, and what many attackers at once do to others.
//   - The state after lost answers: tables are judged before sessions are killed.
//   - Whose rows they are where a program does not ask who is there: projects and tutorial have no login, so
//     their rows are everybody's, and the helpdesk's are whose the address says.
//
// Open this package when an example gets a new route, or the page a new button.
package webfuzz
