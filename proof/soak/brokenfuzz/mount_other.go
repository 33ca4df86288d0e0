//go:build !linux

package brokenfuzz

import (
	"errors"
	"os"
)

var errLinux = errors.New("soak: a small disk is mounted on Linux alone")

func mount(string) error { return errLinux }

func unmount(string) error { return errLinux }

func room(string) (int64, error) { return 0, errLinux }

func reserve(*os.File, int64) error { return errLinux }
