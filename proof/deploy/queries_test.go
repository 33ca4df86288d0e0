package deploy

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// alertsPath is where the alerts are.
const alertsPath = "deploy/alerts.yml"

var language = parser.NewParser(parser.Options{})

// query is an expression, where it stands, and the labels that the text beside it shows.
type query struct {
	where, expr string
	shows       []string
}

var shownByAlert = regexp.MustCompile(`\$labels\.(\w+)`)

// alerts reads the rules as Prometheus does, with their templates.
func alerts(files tree) (queries []query, complaints []string) {
	const path = alertsPath
	groups, errs := rulefmt.Parse([]byte(files[path]), false, model.UTF8Validation, language, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		complaints = append(complaints, path+": "+err.Error())
	}
	if len(errs) > 0 {
		return nil, complaints
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			q := query{where: path + ": " + rule.Alert, expr: rule.Expr}
			for _, text := range rule.Annotations {
				for _, name := range shownByAlert.FindAllStringSubmatch(text, -1) {
					q.shows = append(q.shows, name[1])
				}
			}
			queries = append(queries, q)
		}
	}
	return queries, complaints
}

// judge says what is wrong with a query over these samples. Comparisons do not filter here: an alert that is
// quiet has a series all the same.
func (s *samples) judge(ctx context.Context, q query) (complaints []string) {
	say := func(format string, args ...any) {
		complaints = append(complaints, q.where+": "+fmt.Sprintf(format, args...))
	}
	expr, err := language.ParseExpr(q.expr)
	if err != nil {
		say("%s: %v", q.expr, err)
		return complaints
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if compare, ok := node.(*parser.BinaryExpr); ok && compare.Op.IsComparisonOperator() {
			compare.ReturnBool = true
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			for _, selector := range selectors(n) {
				if series, err := s.ask(ctx, selector); err != nil || len(series) == 0 {
					say("nobody exports %s (%v)", selector, err)
				}
			}
		case *parser.AggregateExpr:
			if !n.Without {
				s.wantLabels(ctx, n.Expr.String(), n.Grouping, say)
			}
		case *parser.BinaryExpr:
			if n.VectorMatching != nil && n.VectorMatching.On {
				s.wantLabels(ctx, n.LHS.String(), n.VectorMatching.MatchingLabels, say)
				s.wantLabels(ctx, n.RHS.String(), n.VectorMatching.MatchingLabels, say)
			}
		}
		return nil
	})
	series, err := s.ask(ctx, expr.String())
	if err != nil || !slices.ContainsFunc(series, func(a answer) bool { return a.value == a.value }) {
		say("%s has no value (%v)", expr, err)
	}
	s.wantLabels(ctx, expr.String(), q.shows, say)
	return complaints
}

// wantLabels wants each of the names on each series of the expression.
func (s *samples) wantLabels(ctx context.Context, expr string, names []string, say func(string, ...any)) {
	series, err := s.ask(ctx, expr)
	for _, name := range names {
		lacks := func(a answer) bool { return !a.labels.Has(name) }
		if err != nil || slices.ContainsFunc(series, lacks) || len(series) == 0 {
			say("%s has no label %s (%v)", expr, name, err)
		}
	}
}

// words is a regular expression that is a choice of words.
var words = regexp.MustCompile(`^\w+(\|\w+)*$`)

// selectors are the selector itself and, where it chooses among words, one for each: none may be in vain.
// Those that it refuses must be there to be refused.
func selectors(n *parser.VectorSelector) (all []string) {
	all = []string{(&parser.VectorSelector{Name: n.Name, LabelMatchers: n.LabelMatchers}).String()}
	for i, m := range n.LabelMatchers {
		choice := m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp
		if m.Type == labels.MatchEqual || m.Name == model.MetricNameLabel || choice && !words.MatchString(m.Value) {
			continue
		}
		for word := range strings.SplitSeq(m.Value, "|") {
			one := slices.Clone(n.LabelMatchers)
			one[i] = labels.MustNewMatcher(labels.MatchEqual, m.Name, word)
			all = append(all, (&parser.VectorSelector{Name: n.Name, LabelMatchers: one}).String())
		}
	}
	return all
}
