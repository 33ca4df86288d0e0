package store

import (
	"time"

	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// User is an account.
type User struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Plan      Tier      `json:"plan"`
	CreatedAt time.Time `json:"created_at"`
}

// Project is a row of project or project_archive.
type Project struct {
	ID          int64        `db:"id" json:"id"`
	UserID      int64        `db:"user_id" json:"user_id"`
	Name        string       `db:"name" json:"name"`
	State       schema.State `db:"state" json:"state"`
	IsOverQuota bool         `db:"is_over_quota" json:"is_over_quota"`
	CreatedAt   time.Time    `db:"created_at" json:"created_at"`
	UpdatedAt   time.Time    `db:"updated_at" json:"updated_at"`
}

// Screen is a row of screen or screen_archive. Its file is BlobKey.
type Screen struct {
	ID          int64        `db:"id" json:"id"`
	ProjectID   int64        `db:"project_id" json:"project_id"`
	Filename    string       `db:"client_filename" json:"filename"`
	Base        []byte       `db:"client_filename_base" json:"-"`
	BlobKey     string       `db:"blob_key" json:"-"`
	ContentType string       `db:"content_type" json:"content_type"`
	Size        int64        `db:"size" json:"size"`        // bytes
	Revision    int          `db:"revision" json:"version"` // 1 for the first upload
	State       schema.State `db:"state" json:"state"`
	CreatedAt   time.Time    `db:"created_at" json:"created_at"`
	UpdatedAt   time.Time    `db:"updated_at" json:"updated_at"`
}

// Comment is a row of comment.
type Comment struct {
	ID        int64     `db:"id" json:"id"`
	ScreenID  int64     `db:"screen_id" json:"screen_id"`
	Body      string    `db:"body" json:"body"`
	CreatedAt time.Time `db:"created_at" json:"created_at"`
}

// Tier is what a user pays for. It decides how many active projects are within the
// quota.
type Tier string

// The tiers.
const (
	Free Tier = "free"
	Pro  Tier = "pro"
	Team Tier = "team"
)

// Tiers returns all of them, the smallest first.
func Tiers() []Tier { return []Tier{Free, Pro, Team} }

// Limit returns the number of active projects; ok is false for a tier that does
// not exist. quota.Unlimited means any number.
func (t Tier) Limit() (limit int, ok bool) {
	switch t {
	case Free:
		return 3, true
	case Pro:
		return 10, true
	case Team:
		return quota.Unlimited, true
	}
	return 0, false
}
