package discover_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
)

// legacy has no foreign key; its tables refer to each other in the styles that there are, and have columns
// that look so and are not.
var legacy = []string{
	"CREATE TABLE wp_users (id INT UNSIGNED PRIMARY KEY, valid INT, paid INT)",
	"CREATE TABLE wp_user_options (user_id INT UNSIGNED PRIMARY KEY, colour INT)",
	"CREATE TABLE wp_categories (category_id BIGINT PRIMARY KEY, parent_id BIGINT NULL, grid_id BIGINT NULL)",
	"CREATE TABLE wp_posts (id INT UNSIGNED PRIMARY KEY, author INT, created_by_user_id INT UNSIGNED, category_id BIGINT, KEY (category_id))",
	"CREATE TABLE wp_boxes (box_uuid CHAR(36) PRIMARY KEY, userid INT UNSIGNED)",
	"CREATE TABLE wp_box_items (id INT PRIMARY KEY, box_uuid CHAR(36) NOT NULL, item_type VARCHAR(20), item_id INT)",
	"CREATE TABLE wp_user_agents (id INT PRIMARY KEY, name VARCHAR(20))",
	"CREATE TABLE wp_agents (id INT PRIMARY KEY, id_user INT UNSIGNED)",
	"CREATE TABLE wp_visits (id BIGINT PRIMARY KEY, user_agent_id INT, user_id VARCHAR(20), post_id INT UNSIGNED)",
	"CREATE TABLE wp_news (newsid INT PRIMARY KEY)",
	"CREATE TABLE wp_news_lines (no INT PRIMARY KEY, newsid INT)",
	"CREATE TABLE wp_log (at DATETIME, user_id INT UNSIGNED)", // without a primary key nothing can be planned
}

func TestDiscoverSoft(t *testing.T) {
	db, ctx := livetest.Migrated(t, legacy...), t.Context()
	dbtest.Exec(t, db, "INSERT INTO wp_users VALUES (1, 1, 1), (2, 1, 1)")
	dbtest.Exec(t, db, "INSERT INTO wp_posts VALUES (1, 1, 1, NULL), (2, 1, 2, NULL), (3, 1, 9, NULL), (4, 1, NULL, NULL)")
	guessed := func(roots ...string) (texts []string) {
		_, _, list, err := discover.Plan(ctx, db, schema.Plan{}, roots, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			texts = append(texts, fmt.Sprintf("%s.%s → %s: %s", p.Table, strings.Join(p.Edge.Columns, ","), p.Edge.Table, strings.Join(p.Evidence, "; ")))
		}
		slices.Sort(texts)
		return texts
	}
	want := []string{
		"wp_agents.id_user → wp_users: its name says user; no index: ALTER TABLE `wp_agents` ADD KEY (`id_user`); the table is empty",
		"wp_box_items.box_uuid → wp_boxes: its name says box; no index: ALTER TABLE `wp_box_items` ADD KEY (`box_uuid`); the table is empty",
		"wp_boxes.userid → wp_users: its name says user; no index: ALTER TABLE `wp_boxes` ADD KEY (`userid`); the table is empty",
		"wp_posts.created_by_user_id → wp_users: its name says user; no index: ALTER TABLE `wp_posts` ADD KEY (`created_by_user_id`); 2 of 3 values are there",
		"wp_user_options.user_id → wp_users: its name says user; the table is empty",
		"wp_visits.post_id → wp_posts: its name says post; no index: ALTER TABLE `wp_visits` ADD KEY (`post_id`); the table is empty",
	}
	if got := guessed("wp_users"); !slices.Equal(got, want) {
		t.Errorf("below wp_users:\n%s", strings.Join(got, "\n"))
	}
	want = []string{
		"wp_categories.parent_id → wp_categories: it names a parent in the table itself; no index: ALTER TABLE `wp_categories` ADD KEY (`parent_id`); the table is empty",
		"wp_posts.category_id → wp_categories: its name says category; NULL in all of 4 rows",
		"wp_visits.post_id → wp_posts: its name says post; no index: ALTER TABLE `wp_visits` ADD KEY (`post_id`); the table is empty",
	}
	if got := guessed("wp_categories"); !slices.Equal(got, want) {
		t.Errorf("below wp_categories:\n%s", strings.Join(got, "\n"))
	}
	if got := guessed("wp_user_agents", "wp_agents"); len(got) != 1 || !strings.HasPrefix(got[0], "wp_visits.user_agent_id → wp_user_agents: ") {
		t.Errorf("below wp_user_agents and wp_agents:\n%s", strings.Join(got, "\n"))
	}
	if got := guessed("wp_news"); len(got) != 1 || !strings.HasPrefix(got[0], "wp_news_lines.newsid → wp_news: ") {
		t.Errorf("below wp_news:\n%s", strings.Join(got, "\n"))
	}
}

// TestDiscoverDeclared: a person says what refers to what.
func TestDiscoverDeclared(t *testing.T) {
	db, ctx := livetest.Migrated(t, legacy...), t.Context()
	soft := []string{"user_id=wp_users", "userid = wp_users.id", "box_uuid=wp_boxes"}
	plan, notes, _, err := discover.Plan(ctx, db, schema.Plan{}, []string{"wp_users"}, soft)
	if err != nil {
		// wp_log has no primary key, and says so.
		if !errors.Is(err, discover.ErrNoPlan) || !strings.Contains(err.Error(), `table "wp_log": it has no primary key`) {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "DROP TABLE wp_log")
		plan, notes, _, err = discover.Plan(ctx, db, schema.Plan{}, []string{"wp_users"}, soft)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range plan.Tables {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	if want := []string{"wp_box_items", "wp_boxes", "wp_user_options", "wp_users"}; !slices.Equal(names, want) {
		t.Errorf("planned are %q, want %q", names, want)
	}
	said := fmt.Sprint(notes)
	for _, want := range []string{"wp_user_options.user_id → wp_users", "(user_id) is a varchar(20) and wp_users.id a int"} {
		if !strings.Contains(said, want) {
			t.Errorf("no note says %q: %s", want, said)
		}
	}
	for text, want := range map[string]string{"user_id=nobody": "unknown table", "nothing=wp_users": `no table has a column "nothing"`, "user_id=wp_users.age": "no such column"} {
		if _, _, _, err := discover.Plan(ctx, db, schema.Plan{}, []string{"wp_users"}, []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "a", "a=", "=b", "a=b.", "*_id=b"} {
		if _, _, _, err := discover.Plan(ctx, db, schema.Plan{}, []string{"wp_users"}, []string{text}); !errors.Is(err, discover.ErrUnknownTable) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestDiscoverSampleCost: a look reads no more of big tables.
func TestDiscoverSampleCost(t *testing.T) {
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Exec(t, db, "CREATE TABLE owner (id INT PRIMARY KEY)")
	dbtest.Exec(t, db, "CREATE TABLE thing (id INT PRIMARY KEY, owner_id INT NULL, filler VARCHAR(20))")
	dbtest.Exec(t, db, "INSERT INTO owner "+cost.Numbers(20_000)+"SELECT i FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO thing "+cost.Numbers(20_000)+"SELECT i, i, 'x' FROM numbers")
	_, _, list, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"owner"}, nil)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	looks := 0
	for _, s := range cost.Of(t, dsn, func(ctx context.Context, db *sql.DB) error {
		_, _, _, err := discover.Plan(ctx, db, schema.Plan{}, []string{"owner"}, nil)
		return err
	}) {
		if !strings.Contains(s.SQL, "`thing` LIMIT") {
			continue
		}
		if looks++; s.Read > 4000 {
			t.Log(s)
			t.Error("it reads more than the sample")
		}
	}
	if looks != 1 {
		t.Errorf("%d looks", looks)
	}
	if last := list[0].Evidence[len(list[0].Evidence)-1]; last != "1000 of 1000 values are there" {
		t.Error(last)
	}
}

// office has references that are called by more than the name of a table and "id".
var office = []string{
	"CREATE TABLE app_label (id INT PRIMARY KEY)",
	"CREATE TABLE app_note (id INT PRIMARY KEY, no INT)",
	"CREATE TABLE app_setting (id INT PRIMARY KEY)",
	"CREATE TABLE crew (crewid INT PRIMARY KEY, lead_crewid INT NULL)",
	"CREATE TABLE crew_room (crewid INT PRIMARY KEY, room INT)", // a part of a crew, and not what crewid means
	"CREATE TABLE hrlist (groupid INT PRIMARY KEY)",
	"CREATE TABLE group_found (groupid INT PRIMARY KEY, at INT)",
	"CREATE TABLE house_note (id INT PRIMARY KEY, label_id INT, note_id INT, groupid INT, state TINYINT, colour TINYINT, door_kind TINYINT)",
	"CREATE TABLE net (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, town VARCHAR(20) NULL, UNIQUE KEY (name), UNIQUE KEY (town))",
	"CREATE TABLE node (nodeid INT PRIMARY KEY, net_name VARCHAR(20), net_town VARCHAR(20), old_net_name VARCHAR(20), KEY (net_name), KEY (net_town))",
	"CREATE TABLE node_link (linkno INT PRIMARY KEY, nodeid1 INT, nodeid_to INT, nodeidle INT)",
	"CREATE TABLE room_state (state TINYINT PRIMARY KEY)",
	"CREATE TABLE paint (colour TINYINT PRIMARY KEY)", // a colour may be any number
	"CREATE TABLE doors (door_kind TINYINT PRIMARY KEY)",
	"CREATE TABLE trip (id INT PRIMARY KEY, status_id INT)",
	"CREATE TABLE trip_status (id INT PRIMARY KEY)",
}

// TestDiscoverNames: what a name says that is not a table's.
func TestDiscoverNames(t *testing.T) {
	db := livetest.Migrated(t, office...)
	for root, want := range map[string][]string{
		"app_label":   {"house_note.label_id → app_label[]: no other table's name ends so"},
		"app_note":    nil, // there is a house_note, too
		"crew":        {"crew.lead_crewid → crew[]: its name ends with the table's own key", "crew_room.crewid → crew[]: its name says crew"},
		"crew_room":   nil,
		"hrlist":      {"group_found.groupid → hrlist[]: it is called as the key", "house_note.groupid → hrlist[]: it is called as the key"},
		"group_found": nil,
		"net":         {"node.net_name → net[name]: its name says net and its unique name"},
		"node":        {"node_link.nodeid1 → node[]: its name begins with the key's", "node_link.nodeid_to → node[]: its name begins with the key's"},
		"room_state":  {"house_note.state → room_state[]: it is called as the key"},
		"paint":       nil,
		"doors":       {"house_note.door_kind → doors[]: it is called as the key"},
		"trip_status": {"trip.status_id → trip_status[]: its name says status"},
	} {
		_, _, list, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{root}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			if p.Edge.Table == root {
				got = append(got, fmt.Sprintf("%s.%s → %s%s: %s", p.Table, strings.Join(p.Edge.Columns, ","), root, p.Edge.References, p.Evidence[0]))
			}
			if last := p.Evidence[len(p.Evidence)-1]; last != "the table is empty" {
				t.Errorf("%s: %s", root, last)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("below %s:\n%s", root, strings.Join(got, "\n"))
		}
	}
}

// TestDiscoverStays: what is proposed for a table whose rows stay, the plan may have.
func TestDiscoverStays(t *testing.T) {
	db := livetest.Migrated(t, "CREATE TABLE house (id INT PRIMARY KEY)", "CREATE TABLE letter (id INT PRIMARY KEY, house_id INT, old_house_id INT NOT NULL, KEY (house_id), KEY (old_house_id))")
	plan := schema.Plan{Tables: []schema.Table{{Name: "house", Key: []string{"id"}}, {Name: "letter", Key: []string{"id"}, Stays: true}}}
	_, _, list, err := discover.Plan(t.Context(), db, plan, nil, nil)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []schema.Action{schema.OnDeleteDetach, schema.OnDeleteKeep} {
		if plan.Tables[1].Parents = append(plan.Tables[1].Parents, list[i].Edge); list[i].Edge.OnDelete != want {
			t.Errorf("%+v", list[i])
		}
	}
	if err := plan.Check(); err != nil {
		t.Error(err)
	}
}

// TestDiscoverPolymorphic: a pair of columns that may refer to several tables is named, once, and not where
// a key or the plan says what is meant.
func TestDiscoverPolymorphic(t *testing.T) {
	db := livetest.Migrated(t, "CREATE TABLE post (id INT PRIMARY KEY)",
		"CREATE TABLE remark (id INT PRIMARY KEY, object_id INT, object_type VARCHAR(20), post_id INT, post_type INT, KEY (object_type, object_id), FOREIGN KEY (post_id) REFERENCES post (id))",
		"CREATE TABLE vote (id INT PRIMARY KEY, Target_ID INT, target_kind INT, other_id INT)")
	said := func(plan schema.Plan) (texts []string) {
		_, notes, _, err := discover.Plan(t.Context(), db, plan, []string{"post"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range notes {
			if strings.Contains(n.Text, "no foreign key can say") {
				texts = append(texts, n.Text[:strings.Index(n.Text, ". ")])
			}
		}
		return texts
	}
	const both = "Rows of several tables may be meant, which no foreign key can say: remark (object_type, object_id), vote (target_kind, Target_ID)"
	if got := said(schema.Plan{}); !slices.Equal(got, []string{both}) {
		t.Errorf("%q", got)
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "post", Key: []string{"id"}}, {Name: "remark", Key: []string{"id"},
		Parents: []schema.Edge{{Table: "post", Columns: []string{"object_id"}, When: map[string]string{"object_type": "post"}}}}}}
	if got := said(plan); !slices.Equal(got, []string{strings.Replace(both, "remark (object_type, object_id), ", "", 1)}) {
		t.Errorf("%q", got)
	}
}

// TestDiscoverVersioned: the server puts its ROW END behind the keys of a table with system versioning; nobody
// is told to change it, and the plan that is discovered fits.
func TestDiscoverVersioned(t *testing.T) {
	db := dbtest.Open(t)
	versioning, period := " WITH SYSTEM VERSIONING", `, began TIMESTAMP(6) GENERATED ALWAYS AS ROW START, ended TIMESTAMP(6) GENERATED ALWAYS AS ROW END,
  PERIOD FOR SYSTEM_TIME (began, ended)`
	if dbtest.Server(t).Engine() != devdb.MariaDB { // which has no such thing
		versioning, period = "", ", began TIMESTAMP(6) NULL, ended TIMESTAMP(6) NULL"
	}
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE house (id INT PRIMARY KEY)" + versioning,
		"CREATE TABLE letter (id INT PRIMARY KEY, house_id INT NOT NULL, FOREIGN KEY (house_id) REFERENCES house (id)" + period + ")" + versioning,
		"INSERT INTO house VALUES (1), (2)", "INSERT INTO letter (id, house_id) VALUES (1, 1), (2, 1), (3, 2)", "UPDATE letter SET house_id = 1 WHERE id = 3",
	} {
		dbtest.Exec(t, db, stmt)
	}
	plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"house"}, nil)
	if err != nil || len(plan.Tables) != 2 || !slices.Equal(plan.Tables[1].Key, []string{"id"}) {
		t.Fatalf("%+v, %v", plan, err)
	}
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Error(err)
	}
}
