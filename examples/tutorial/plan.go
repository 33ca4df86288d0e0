package main

import (
	"github.com/onerow/onerow/schema"
)

// Show is a row of the table show, and of show_archive while it is archived.
type Show struct {
	ID        int64        `db:"id" json:"id"`
	Organiser int64        `db:"organiser_id" json:"organiser_id"`
	Title     string       `db:"title" json:"title"`
	State     schema.State `db:"state" json:"state"`
}

// Ticket is a seat of a show that is sold.
type Ticket struct {
	ID     int64  `db:"id" json:"id"`
	ShowID int64  `db:"show_id" json:"show_id"`
	Seat   string `db:"seat" json:"seat"`
	Number int64  `db:"number" json:"number"`
}

var plan = schema.Plan{Resources: []schema.Resource{
	{
		Name: "show", Archive: "show_archive", Owner: "organiser_id",
		Label:  schema.Label{Column: "title"}, // unique for each organiser
		Limits: []schema.Limit{{}},            // how many shows an organiser may have
	},
	{
		Name: "ticket", Owner: "show_id", Parent: schema.Parent{Resource: "show", Column: "show_id"},
		Label:   schema.Label{Column: "seat"}, // unique for each show: no seat is sold twice
		Columns: []schema.Column{{Name: "number", Type: "BIGINT NOT NULL"}},
		Indexes: []schema.Index{{Columns: []string{"number"}, Unique: true}},
	},
}}
