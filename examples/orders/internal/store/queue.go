package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow/sqs"
)

// The queues.
const (
	QueueCarts  = "carts"  // carts to validate
	QueuePrices = "prices" // questions to the price service
	QueueMail   = "mail"   // what the customer is told
)

// Message is a message of a queue.
type Message struct {
	// ID is the message id: what is sent twice with one id is there once.
	ID         string
	Queue      string
	Body       string
	Attributes map[string]sqs.Attribute
	Delay      time.Duration
}

// sqlSend inserts a message; the primary key decides. An insert affects 1 row, an update 2.
const sqlSend = `INSERT INTO message (id, queue, body, attributes, delay_s, due_at) VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? SECOND)
ON DUPLICATE KEY UPDATE sent = sent + 1`

// Send puts a message into its queue; false: it was there already and is not sent again. In a
// transaction it is sent when that commits. One statement.
func Send(ctx context.Context, db onerow.DB, m Message) (bool, error) {
	attributes, err := json.Marshal(m.Attributes)
	if err != nil {
		return false, err
	}
	seconds := int64(m.Delay / time.Second)
	n, err := onerow.Affected(ctx, db, sqlSend, m.ID, m.Queue, m.Body, string(attributes), seconds, seconds)
	return n == 1, err
}

// JSON is the message as SQS hands it to a consumer, for sqs.Open.
func (m Message) JSON() ([]byte, error) {
	type attribute struct {
		DataType, StringValue string
		BinaryValue           []byte
	}
	record := struct {
		MessageID, Body   string
		MessageAttributes map[string]attribute
	}{m.ID, m.Body, map[string]attribute{}}
	for name, a := range m.Attributes {
		record.MessageAttributes[name] = attribute{a.Type, a.Value, a.Binary}
	}
	return json.Marshal(record)
}

// sqlMessage reads by the primary key, sqlDue over the index due.
const (
	messageColumns = `SELECT id, queue, body, attributes, delay_s FROM message WHERE `
	sqlMessage     = messageColumns + `id = ?`
	sqlDue         = messageColumns + `queue = ? AND delivered_at IS NULL AND due_at <= UTC_TIMESTAMP(6) ORDER BY due_at, id LIMIT ?`
)

// MessageByID reads a message, delivered or not. One statement.
func MessageByID(ctx context.Context, db onerow.DB, id string) (Message, error) {
	all, err := messages(ctx, db, sqlMessage, id)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: message %q", ErrNotFound, id)
	}
	if err != nil {
		return Message{}, err
	}
	return all[0], nil
}

// Due reads the messages of a queue that may be delivered now, oldest first. One statement.
func Due(ctx context.Context, db onerow.DB, queue string, limit int) ([]Message, error) {
	return messages(ctx, db, sqlDue, queue, limit)
}

func messages(ctx context.Context, db onerow.DB, query string, args ...any) (all []Message, err error) {
	err = onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var m Message
		var attributes []byte
		var seconds int64
		if err := rows.Scan(&m.ID, &m.Queue, &m.Body, &attributes, &seconds); err != nil {
			return err
		}
		m.Delay = time.Duration(seconds) * time.Second
		all = append(all, m)
		return json.Unmarshal(attributes, &all[len(all)-1].Attributes)
	})
	return all, err
}

// sqlDelivered writes by the primary key.
const sqlDelivered = `UPDATE message SET delivered_at = UTC_TIMESTAMP(6) WHERE id = ? AND delivered_at IS NULL`

// Delivered takes a message out of its queue, after it was worked: a crash before delivers it
// again. One statement.
func Delivered(ctx context.Context, db onerow.DB, id string) error {
	_, err := db.ExecContext(ctx, sqlDelivered, id)
	return err
}
