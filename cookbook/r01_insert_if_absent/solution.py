#!/usr/bin/env python3
"""Prints the id of each address's account, and makes those that are not there.

    MYSQL_DATABASE=shop ./solution.py ann@example.com bob@example.com
"""

import os
import sys

import pymysql

DUPLICATE = 1062


def account(db, email):
    """Writes first. A duplicate means that the account is there, whoever made it."""
    with db.cursor() as cursor:
        try:
            cursor.execute("INSERT INTO account (email) VALUES (%s)", (email,))
            return cursor.lastrowid
        except pymysql.err.IntegrityError as err:
            if err.args[0] != DUPLICATE:
                raise
        cursor.execute("SELECT id FROM account WHERE email = %s", (email,))
        found = cursor.fetchone()
        if found is None:
            raise LookupError(f"the account of {email} was deleted meanwhile")
        return found[0]


def main():
    db = pymysql.connect(
        host=os.environ.get("MYSQL_HOST", "127.0.0.1"),
        port=int(os.environ.get("MYSQL_PORT", "3306")),
        user=os.environ.get("MYSQL_USER", "root"),
        password=os.environ.get("MYSQL_PASSWORD", ""),
        database=os.environ["MYSQL_DATABASE"],
        autocommit=True,
    )
    with db:
        for email in sys.argv[1:]:
            print(account(db, email))


if __name__ == "__main__":
    main()
