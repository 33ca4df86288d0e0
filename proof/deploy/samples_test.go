package deploy

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// samples are what was scraped, by series, and Prometheus's engine above. Its own storage would link the
// clients of three clouds.
type samples struct {
	series map[string]*promql.Series
	engine *promql.Engine
	last   time.Time
}

// list is a set of series for the engine.
type list struct {
	series []promql.Series
	at     int
}

func (l *list) Next() bool                        { l.at++; return l.at < len(l.series) }
func (l *list) At() storage.Series                { return promql.NewStorageSeries(l.series[l.at]) }
func (l *list) Err() error                        { return nil }
func (l *list) Warnings() annotations.Annotations { return nil }

// find selects the series that match.
func (s *samples) find(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &list{at: -1}
	for _, key := range slices.Sorted(maps.Keys(s.series)) {
		one := s.series[key]
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(one.Metric.Get(m.Name)) }) {
			found.series = append(found.series, *one)
		}
	}
	slices.SortFunc(found.series, func(a, b promql.Series) int { return labels.Compare(a.Metric, b.Metric) })
	return found
}

func newSamples(t *testing.T) *samples {
	t.Helper()
	s := &samples{series: map[string]*promql.Series{}, engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: language,
	})}
	t.Cleanup(func() {
		if err := s.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// target is what Prometheus would scrape: its labels are those that the scrape configuration gives.
type target struct{ job, instance, url, token string }

// scrape reads the target over HTTP, and keeps what it says as Prometheus would. It returns the text.
func (s *samples) scrape(t *testing.T, from target) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	if from.token != "" {
		req.Header.Set("Authorization", "Bearer "+from.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v: %s", from.url, res.Status, err, body)
	}
	if err := s.keep(from, body, res.Header.Get("Content-Type")); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (s *samples) keep(from target, body []byte, kind string) error {
	text, err := textparse.New(body, kind, nil, textparse.ParserOptions{})
	if err != nil {
		return err
	}
	s.last = time.Now()
	add := func(series labels.Labels, value float64) {
		named := labels.NewBuilder(series).Set("job", from.job).Set("instance", from.instance).Labels()
		one := s.series[named.String()]
		if one == nil {
			one = &promql.Series{Metric: named}
			s.series[named.String()] = one
		}
		one.Floats = append(one.Floats, promql.FPoint{T: s.last.UnixMilli(), F: value})
	}
	for {
		entry, err := text.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		text.Labels(&series)
		_, _, value := text.Series()
		add(series, value)
	}
	add(labels.FromStrings(model.MetricNameLabel, "up"), 1)
	return nil
}

// answer is one series of an expression at the time of the last scrape.
type answer struct {
	labels labels.Labels
	value  float64
}

func (s *samples) ask(ctx context.Context, expr string) ([]answer, error) {
	return s.askAt(ctx, expr, s.last)
}

func (s *samples) askAt(ctx context.Context, expr string, at time.Time) (all []answer, err error) {
	q, err := s.engine.NewInstantQuery(ctx, &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: s.find}}, nil, expr, at)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	switch v := q.Exec(ctx); {
	case v.Err != nil:
		return nil, v.Err
	default:
		switch value := v.Value.(type) {
		case promql.Vector:
			for _, sample := range value {
				all = append(all, answer{sample.Metric, sample.F})
			}
		case promql.Scalar:
			all = append(all, answer{labels.EmptyLabels(), value.V})
		}
	}
	return all, nil
}

// until scrapes until a condition holds of what is kept.
func (s *samples) until(t *testing.T, from target, expr string) {
	t.Helper()
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		text := s.scrape(t, from)
		got, err := s.ask(t.Context(), expr)
		if err != nil {
			t.Fatal(err)
		}
		ours := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "onerow_") })
		return len(got) > 0, expr + " holds not of\n" + strings.Join(ours, "\n")
	})
}
