package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/schema"
)

// TestRetentionPage: what is due by each policy, the oldest, and what is wrong with one. Looking queues
// nothing.
func TestRetentionPage(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/retention", by(evesToken)), http.StatusOK, "The plan has no retention")

	plan := testPlan
	plan.Tables = []schema.Table{
		{Name: "visit", Key: []string{"id"}, Retention: &schema.Retention{Column: "seen_at", Keep: schema.Age(90 * 24 * time.Hour)}},
		{Name: "letter", Key: []string{"id"}, Retention: &schema.Retention{Column: "sent_at", Keep: schema.Age(24 * time.Hour)}},
		{Name: "gone", Key: []string{"id"}, Retention: &schema.Retention{Column: "sent_at", Keep: schema.Age(24 * time.Hour)}},
	}
	d = atDesk(t, plan, nil)
	d.exec("CREATE TABLE visit (id BIGINT PRIMARY KEY, seen_at DATETIME, KEY (seen_at))")
	d.exec("INSERT INTO visit VALUES (1, '2020-01-02'), (2, '2020-01-01'), (3, UTC_TIMESTAMP())")
	d.exec("CREATE TABLE letter (id BIGINT PRIMARY KEY, sent_at TIMESTAMP NULL, KEY (sent_at))")
	d.exec("INSERT INTO letter SELECT seq, '2021-01-01' FROM (WITH RECURSIVE n AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 900) SELECT a.seq * 1000 + b.seq AS seq FROM n a JOIN n b WHERE a.seq <= 12 AND b.seq <= 900) AS all_of_them")
	d.exec("CREATE TABLE gone (id BIGINT PRIMARY KEY)")
	body := d.says(d.get("/retention", by(evesToken)), http.StatusOK, "<strong>2 rows due</strong>", "2020-01-01 00:00:00 UTC<", " UTC</bdi>", "the window is open", "keep: 90d",
		"more than 10,000 rows due", "sent_at", `aria-current="page">Retention`)
	if n := d.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Error("looking has queued it")
	}
	if strings.Contains(body, "UTC UTC") {
		t.Errorf("%s", body)
	}
}
