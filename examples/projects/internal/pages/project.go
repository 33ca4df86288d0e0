package pages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

const screensPerPage = 60

type projectData struct {
	User      store.User
	Project   store.Project
	State     schema.State // of the screens
	Page      repo.Page[store.Screen]
	First     bool
	MaxUpload int64
}

func (p *Pages) project(w http.ResponseWriter, r *http.Request) error {
	var data projectData
	var err error
	if data.Project, err = move(r, p.store.Project); err != nil {
		return err
	}
	if data.User, err = p.store.User(r.Context(), data.Project.UserID); err != nil {
		return err
	}
	cursor := r.URL.Query().Get("cursor")
	data.State, data.First, data.MaxUpload = state(r), cursor == "", p.opts.MaxUpload
	if data.Page, err = p.store.Screens(r.Context(), data.Project.ID, data.State, cursor, screensPerPage); err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "project", data.Project.Name, data)
}

func (p *Pages) rename(w http.ResponseWriter, r *http.Request) error {
	id, err := posted(w, r)
	if err != nil {
		return err
	}
	project, err := p.store.RenameProject(r.Context(), id, r.PostForm.Get("name"))
	if err != nil {
		what := problem.From(err)
		before, gone := p.store.Project(r.Context(), id)
		if what.Status >= http.StatusInternalServerError || gone != nil {
			return err
		}
		return p.redirect(w, r, bad("Not renamed. "+what.Detail), "/users/%d", before.UserID)
	}
	return p.redirect(w, r, good("Renamed to “"+isolated(project.Name)+"”."), "/users/%d", project.UserID)
}

func (p *Pages) archive(w http.ResponseWriter, r *http.Request) error {
	project, err := move(r, p.store.ArchiveProject)
	if err != nil {
		return err
	}
	return p.redirect(w, r, good("Archived “"+isolated(project.Name)+"”. Its name is free again."), "/users/%d", project.UserID)
}

func (p *Pages) activate(w http.ResponseWriter, r *http.Request) error {
	before, err := move(r, p.store.Project)
	if err != nil {
		return err
	}
	project, err := p.store.ActivateProject(r.Context(), before.ID)
	if err != nil {
		return err
	}
	return p.redirect(w, r, good(back("Activated", before.Name, project)), "/users/%d", project.UserID)
}

// back says under which name a row came back.
func back(verb, name string, project store.Project) string {
	text := verb + " “" + isolated(project.Name) + "”."
	if name != "" && name != project.Name {
		text = fmt.Sprintf("%s as “%s”, since another project is called “%s” now.", verb, isolated(project.Name), isolated(name))
	}
	if project.IsOverQuota {
		text += " It is over the quota of the plan."
	}
	return text
}

func (p *Pages) delete(w http.ResponseWriter, r *http.Request) error {
	del, err := move(r, func(ctx context.Context, id int64) (repo.Deleted[store.Project], error) {
		return p.store.DeleteProject(ctx, id, p.opts.Grace)
	})
	if err != nil {
		return err
	}
	if del.Row.UserID != 0 {
		return p.redirect(w, r, nil, "/users/%d?job=%d", del.Row.UserID, del.JobID)
	}
	// Another tab was faster: its deletion is shown, which can be undone as long as that one's.
	if del.JobID == 0 {
		return onerow.ErrNotFound
	}
	_, owner, err := p.readDeletion(r.Context(), del.JobID)
	switch {
	case err != nil:
		return err
	case owner == 0:
		return p.redirect(w, r, nil, "/jobs/%d", del.JobID)
	}
	return p.redirect(w, r, nil, "/users/%d?job=%d", owner, del.JobID)
}

func (p *Pages) undo(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	owner, name, trashErr := p.store.Trash(r.Context(), id)
	project, err := p.store.CancelDelete(r.Context(), id)
	if errors.Is(err, repo.ErrTooLate) && trashErr == nil {
		return p.redirect(w, r, bad("Too late: “"+isolated(name)+"” is being deleted."), "/users/%d", owner)
	}
	if err != nil {
		return err
	}
	return p.redirect(w, r, good(back("Brought back", name, project)), "/users/%d", project.UserID)
}

// maxFiles is how many files one form may bring.
const maxFiles = 100

// upload takes the form of a browser without the script; the script sends each file
// to the JSON interface.
func (p *Pages) upload(w http.ResponseWriter, r *http.Request) error {
	project, err := move(r, p.store.Project)
	if err != nil {
		return err
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return problem.New(http.StatusUnsupportedMediaType, "The form is not one with files.")
	}
	var made, versions int
	var refused []string
	fail := r.URL.Query().Get("on_conflict") == "fail"
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n > maxFiles {
			return problem.New(http.StatusBadRequest, "The form cannot be read, or it has more than %d files.", maxFiles)
		}
		if part.FormName() == "on_conflict" { // before the files, as in the form
			fail = true
			continue
		}
		if part.FormName() != "files" || part.FileName() == "" {
			continue
		}
		_, created, err := p.store.Upload(r.Context(), store.Upload{ProjectID: project.ID, Filename: part.FileName(), Fail: fail,
			Body: http.MaxBytesReader(w, part, p.opts.MaxUpload)})
		switch what := (*problem.Problem)(nil); {
		case err != nil:
			if what = problem.From(err); what.Status >= http.StatusInternalServerError {
				return err
			}
			refused = append(refused, fmt.Sprintf("“%s” was not stored. %s", isolated(part.FileName()), what.Detail))
		case created:
			made++
		default:
			versions++
		}
	}
	return p.redirect(w, r, stored(made, versions, refused), "/projects/%d", project.ID)
}

// stored says what became of the files of a form; of many that were refused, of the
// first and how many more.
func stored(made, versions int, refused []string) *flash {
	text := fmt.Sprintf("Stored: %s, %s.", countText(int64(made), "new screen", "new screens"), countText(int64(versions), "new version", "new versions"))
	switch {
	case len(refused) > 1:
		return bad(fmt.Sprintf("%s %s not stored either. %s", refused[0], countText(int64(len(refused)-1), "other file was", "other files were"), text))
	case len(refused) == 1 && made+versions > 0:
		return bad(refused[0] + " " + text)
	case len(refused) == 1:
		return bad(refused[0])
	case made+versions == 0:
		return bad("Choose a file first.")
	}
	return good(text)
}
