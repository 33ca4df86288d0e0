package featurefuzz

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The features that a schema may have. A round draws some of them.
const (
	ofCharset       = "character sets and collations"
	ofCheck         = "CHECK"
	ofBrokenCheck   = "CHECK that rows break"
	ofViews         = "views"
	ofGenerated     = "generated columns over keys"
	ofGeneratedEdge = "a generated column as reference"
	ofGeneratedKey  = "a generated column in the key"
	ofLongNames     = "names of 64 characters"
	ofOddNames      = "odd names"
	ofCompressed    = "ROW_FORMAT=COMPRESSED"
	ofRowFormat     = "ROW_FORMAT=REDUNDANT, COMPACT"
	ofCrowd         = "1,500 other tables"
	ofWide          = "300 columns"
	ofPartitions    = "partitions"
	ofUniqueNulls   = "unique keys with NULLs"
	ofCascades      = "foreign keys that cascade or set NULL"
	ofDetach        = "references that are cut"
	ofVersioned     = "system versioning"
	ofVerbs         = "verbs of a resource"
	ofKills         = "killed sessions"

	ofLog          = "triggers that log"
	ofCount        = "triggers that count in another table"
	ofTouch        = "triggers that touch siblings"
	ofSiblings     = "triggers that delete siblings"
	ofRefuseDelete = "triggers that refuse a delete"
	ofRefuseInsert = "triggers that refuse an insert"

	ofUnaccepted   = "a trigger that nobody accepted"
	ofGoneTrigger  = "an accepted trigger that is not there"
	ofInexactKey   = "a key of no exact values"
	ofViewAsTable  = "a view as a table"
	ofTrashColumn  = "a column with a name of the trash's"
	ofWideKey      = "a key as wide as can be"
	ofFullRow      = "a row as wide as can be"
	ofTooLongName  = "a table's name of more than 64 bytes"
	ofOtherEngine  = "MyISAM"
	prefixOfValues = "values: "
)

// feature is what a schema may have.
type feature struct {
	name   string
	engine string // that has it; "": both
	// refused says that the toolkit has to refuse it, either that it may: no document says that it works.
	refused, either bool
	// without are those that no schema has together with it.
	without []string
}

// triggers are all that a resource must not have.
var triggers = []string{ofLog, ofCount, ofTouch, ofSiblings, ofRefuseDelete, ofRefuseInsert}

// features are all but the types of values, see kinds.
var features = []feature{
	{name: ofCharset}, {name: ofCheck}, {name: ofViews},
	{name: ofBrokenCheck, engine: "mariadb", without: []string{ofRefuseInsert, ofRefuseDelete, ofVerbs, ofSiblings, ofDetach}},
	{name: ofGenerated}, {name: ofGeneratedEdge, either: true, without: []string{ofCascades}},
	// MySQL takes no row into such a table in a strict session (1048) where any trigger runs before INSERTs.
	{name: ofGeneratedKey, engine: "mysql", either: true, without: []string{ofCount, ofTouch, ofLog, ofRefuseInsert}},
	{name: ofLongNames}, {name: ofOddNames, without: []string{ofLongNames, ofViews, ofViewAsTable}},
	{name: ofCompressed}, {name: ofRowFormat, without: []string{ofCompressed, ofVerbs}}, {name: ofCrowd}, {name: ofWide},
	{name: ofPartitions}, {name: ofUniqueNulls}, {name: ofCascades}, {name: ofDetach},
	{name: ofVersioned, engine: "mariadb", without: []string{ofPartitions, ofCascades}},
	{name: ofVerbs, without: triggers}, {name: ofKills},
	{name: ofLog}, {name: ofCount}, {name: ofTouch}, {name: ofSiblings, without: []string{ofRefuseInsert, ofRefuseDelete, ofCount, ofLog, ofTouch}},
	{name: ofRefuseDelete, without: []string{ofRefuseInsert}}, {name: ofRefuseInsert},
	{name: ofUnaccepted, refused: true, without: []string{ofVerbs}}, {name: ofGoneTrigger, refused: true, without: []string{ofVerbs}},
	{name: ofInexactKey, refused: true, without: []string{ofVerbs}}, {name: ofViewAsTable, refused: true, without: []string{ofVerbs}}, {name: ofTrashColumn, refused: true},
	{name: ofWideKey, refused: true, without: []string{ofVerbs, ofGeneratedKey}}, {name: ofFullRow, either: true},
	{name: ofTooLongName, refused: true, without: []string{ofVerbs}}, {name: ofOtherEngine, refused: true, without: []string{ofPartitions, ofCompressed, ofRowFormat}},
}

// tally counts what became of the rounds of each feature.
type tally struct {
	mu       sync.Mutex
	rounds   map[string]int
	worked   map[string]int
	refusals map[string]map[string]int // by feature and error
}

func newTally() *tally {
	return &tally{rounds: map[string]int{}, worked: map[string]int{}, refusals: map[string]map[string]int{}}
}

// add counts a round; refusal is what the toolkit said, "" if it has worked.
func (t *tally) add(has []string, worked bool, refusal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range has {
		t.rounds[name]++
		if worked {
			t.worked[name]++
		}
		if refusal != "" {
			if t.refusals[name] == nil {
				t.refusals[name] = map[string]int{}
			}
			t.refusals[name][refusal]++
		}
	}
}

// missing are the features of which nothing is shown.
func (t *tally) missing(all []feature) (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range all {
		switch refused := len(t.refusals[f.name]) > 0; {
		case f.refused && refused, f.either && (refused || t.worked[f.name] > 0), !f.refused && t.worked[f.name] > 0:
		default:
			names = append(names, f.name)
		}
	}
	return names
}

// print writes a line for each feature, and one for each of its refusals where it is why the round was
// refused.
func (t *tally) print(out io.Writer, all []feature) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	for _, f := range all {
		refused := 0
		for _, n := range t.refusals[f.name] {
			refused += n
		}
		fmt.Fprintf(&text, "   %4d rounds, %4d worked, %4d refused: %s\n", t.rounds[f.name], t.worked[f.name], refused, f.name)
		if !f.refused && !f.either {
			continue
		}
		for _, why := range slices.Sorted(maps.Keys(t.refusals[f.name])) {
			fmt.Fprintf(&text, "        %d times: %s\n", t.refusals[f.name][why], why)
		}
	}
	fmt.Fprint(out, text.String()) //nolint:errcheck // nothing is told to nobody
}
