package sqs_test

import (
	"fmt"
	"log"
	"os"

	"github.com/onerow/onerow/flow/sqs"
)

// A message that came through SNS is sent again and keeps its request id.
func ExampleOpen() {
	raw, err := os.ReadFile("testdata/sns-sqs.json")
	if err != nil {
		log.Fatal(err)
	}
	message, err := sqs.Open(raw)
	fmt.Println(message.RequestID, message.Retry, message.Body, err)
	out, err := message.Resend(sqs.Backoff{})
	fmt.Println(out.Delay, out.Attributes[sqs.AttributeRequestID].Value, out.Attributes[sqs.AttributeRetry].Value, err)
	// Output:
	// 0d5e1c7a-41b8-4f0e-8a3e-5b7c2f9e6d10 0 cart 7 changed <nil>
	// 5s 0d5e1c7a-41b8-4f0e-8a3e-5b7c2f9e6d10 1 <nil>
}
