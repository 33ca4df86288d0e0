// Package sqs reads and re-sends messages of Amazon SQS, direct or wrapped by SNS, so that a flow
// (package flow) finds the request id that it claims with. It talks to no queue and needs no SDK.
//
//	message, err := sqs.Open(raw)      // a Lambda's record, or a message of the API, as JSON
//	res, err := flow.Claim(ctx, db, flow.Run{Flow: "cart/7", RequestID: message.RequestID})
//	if errors.Is(err, flow.ErrOwned) { // later
//		out, err := message.Resend(sqs.Backoff{})
//	}
//
// SQS gives a message that is sent again a new id, so the original id travels in an attribute,
// beside the number of retries. Only senders that are trusted may set these two.
//
// Open this package when a message of SQS has another form.
package sqs
